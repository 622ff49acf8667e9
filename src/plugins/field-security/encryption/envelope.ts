import { readCanonicalBase64 } from "../password/read-canonical-base64.ts";
import { IV_BYTES, TAG_BYTES } from "./aes-gcm.ts";
import { isKeyId } from "./data-key.ts";

/** An encrypted value taken apart. */
export interface Envelope {
  /** `null` in values written before key ids were. */
  readonly keyId: string | null;
  /** iv + ciphertext + tag. */
  readonly sealed: Buffer;
}

/** The stored form of spec 2.4 rule 9: `<key_id>:base64(iv + ciphertext + tag)`. */
export function writeEnvelope(keyId: string, sealed: Buffer): string {
  return `${keyId}:${sealed.toString("base64")}`;
}

/**
 * Takes a stored value apart; undefined when it has not the form. Base64 has no colon, so what has none carries no key
 * id.
 */
export function readEnvelope(text: unknown): Envelope | undefined {
  if (typeof text !== "string") return undefined;
  const colon = text.indexOf(":");
  const keyId = colon < 0 ? null : text.slice(0, colon);
  if (keyId !== null && !isKeyId(keyId)) return undefined;
  const sealed = readCanonicalBase64(text.slice(colon + 1), IV_BYTES + TAG_BYTES, Number.POSITIVE_INFINITY);
  return sealed && { keyId, sealed };
}

/** The key id that an encrypted value carries; `null` when it carries none, or is no encrypted value. */
export function getEncryptionKeyId(encrypted: string): string | null {
  return readEnvelope(encrypted)?.keyId ?? null;
}
