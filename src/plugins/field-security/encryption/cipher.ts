import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from "node:crypto";
import { ConfigurationError } from "../../../entity/index.ts";
import { DecryptionError } from "../../../kernel/index.ts";
import { isKeyId } from "./data-key.ts";
import { type KeyRing, keysOf, takePrimary } from "./key-ring.ts";
import { decodeValue, type Encryptable, encodeValue, lengthPrefixed, readCanonicalBase64 } from "./value-codec.ts";

const NO_ADDITIONAL_DATA = Buffer.alloc(0);
const NEED = "binds values to their place: pass { entity, field, id }";

/** The place of a value. A bound value cannot be decrypted anywhere else. */
export interface BindingContext {
  /** Name of the entity. */
  readonly entity: string;
  /** Name of the field. */
  readonly field: string;
  /** Id of the record. */
  readonly id: string;
}

/**
 * Encrypts a value with the ring's primary key. Values that already look encrypted are encrypted again.
 * @param context the place where it will be stored; needed when the primary key binds, ignored otherwise
 * @throws ConfigurationError without a key, or without a context that the key needs
 * @throws BadRequestError for values that would not be restored exactly
 */
export function encrypt(ring: KeyRing, value: unknown, context?: BindingContext): string {
  return encryptBytes(ring, encodeValue(value), context);
}

/**
 * Decrypts a stored value and restores its type.
 * @throws DecryptionError when the value is malformed, changed or moved, or its key is not registered; the error
 * contains neither value nor key
 */
export function decrypt(ring: KeyRing, encrypted: unknown, context?: BindingContext): Encryptable {
  return decryptBound(ring, encrypted, context).value;
}

/** Decrypts a value, and returns whether it was bound to its place. @throws DecryptionError */
export function decryptBound(
  ring: KeyRing,
  encrypted: unknown,
  context?: BindingContext,
): { readonly value: Encryptable; readonly bound: boolean } {
  const { bytes, bound } = decryptBytes(ring, encrypted, context);
  const value = decodeValue(bytes);
  if (value === undefined)
    throw new DecryptionError("the decrypted bytes are not a value of this version", { reason: "malformed" });
  return { value, bound };
}

/**
 * Whether a value has the stored form. With a key id only the form is checked. Text without a key id could be any
 * base64, so it only counts if one of the ring's keys decrypts it.
 */
export function isEncryptedWith(ring: KeyRing, value: unknown): value is string {
  const envelope = readEnvelope(value);
  if (envelope === undefined) return false;
  if (envelope.keyId !== null) return true;
  return [...keysOf(ring).values()].some(({ secret }) => open(secret, envelope.sealed, NO_ADDITIONAL_DATA));
}

/**
 * Whether a value may be plaintext from before its field was encrypted. It is not if it has the stored form. It is not
 * either if it begins with the id of a key in the ring: then it is a damaged encrypted value.
 */
export function isPlaintext(ring: KeyRing, value: unknown): boolean {
  if (isEncryptedWith(ring, value)) return false;
  return typeof value !== "string" || !value.includes(":") || !ring.has(value.slice(0, value.indexOf(":")));
}

interface Opened {
  readonly bytes: Buffer;
  /** Whether the value was bound to its place. */
  readonly bound: boolean;
}

/** Encrypts bytes with the primary key. @throws ConfigurationError */
export function encryptBytes(ring: KeyRing, bytes: Uint8Array, context?: BindingContext): string {
  const key = takePrimary(ring);
  const additional = additionalDataOf(key, context);
  if (additional === undefined) throw new ConfigurationError(`the encryption key "${key.id}" ${NEED}`);
  return writeEnvelope(key.id, seal(key.secret, randomBytes(IV_BYTES), bytes, additional));
}

/** Decrypts to bytes. @throws DecryptionError */
export function decryptBytes(ring: KeyRing, encrypted: unknown, context?: BindingContext): Opened {
  const envelope = readEnvelope(encrypted);
  if (envelope === undefined) throw new DecryptionError("the stored value is not encrypted", { reason: "malformed" });
  return envelope.keyId === null ? openWithAnyKey(ring, envelope) : openWithItsKey(ring, envelope, context);
}

/** A value that names its key is only decrypted with that key, so that changing the id cannot select weaker rules. */
function openWithItsKey(ring: KeyRing, { keyId, sealed }: Envelope, context: BindingContext | undefined): Opened {
  const keys = keysOf(ring);
  const key = keys.get(keyId as string);
  if (key === undefined)
    throw new DecryptionError(
      "unknown key id: the key of this value is not registered here; a new key is registered in every process before " +
        `one of them makes it primary. Registered: ${[...keys.keys()].join(", ") || "none"}`,
      { reason: "unknown-key" },
    );
  const additional = additionalDataOf(key, context);
  if (additional === undefined)
    throw new DecryptionError(`the encryption key "${key.id}" ${NEED}`, { reason: "no-context" });
  const bytes = open(key.secret, sealed, additional);
  if (bytes !== undefined) return { bytes, bound: key.bind };
  const how = key.bind ? "was changed, or belongs to another record or field" : "was changed, or has another key";
  throw new DecryptionError(`the key "${key.id}" does not open this value: it ${how}`, { reason: "refused" });
}

/** Values from before key ids may have any key (spec 2.4 rule 9) and are never bound. */
function openWithAnyKey(ring: KeyRing, { sealed }: Envelope): Opened {
  for (const { secret } of keysOf(ring).values()) {
    const bytes = open(secret, sealed, NO_ADDITIONAL_DATA);
    if (bytes !== undefined) return { bytes, bound: false };
  }
  throw new DecryptionError("no registered key opens this value, which names no key", { reason: "refused" });
}

interface Envelope {
  /** `null` for values that were written before key ids existed. */
  readonly keyId: string | null;
  /** iv + ciphertext + tag. */
  readonly sealed: Buffer;
}

/** The stored form of spec 2.4 rule 9: `<key_id>:base64(iv + ciphertext + tag)`. */
function writeEnvelope(keyId: string, sealed: Buffer): string {
  return `${keyId}:${sealed.toString("base64")}`;
}

/**
 * Parses a stored value; undefined when it does not have the form. Base64 contains no colon, so a value without a colon
 * has no key id.
 */
function readEnvelope(text: unknown): Envelope | undefined {
  if (typeof text !== "string") return undefined;
  const colon = text.indexOf(":");
  const keyId = colon < 0 ? null : text.slice(0, colon);
  if (keyId !== null && !isKeyId(keyId)) return undefined;
  const sealed = readCanonicalBase64(text.slice(colon + 1), IV_BYTES + TAG_BYTES, Number.POSITIVE_INFINITY);
  return sealed && { keyId, sealed };
}

/** The key id of an encrypted value; `null` if it has no key id, or is not an encrypted value. */
export function getEncryptionKeyId(encrypted: string): string | null {
  return readEnvelope(encrypted)?.keyId ?? null;
}

function isPart(part: unknown): part is string {
  return typeof part === "string" && part !== "" && part.isWellFormed();
}

/**
 * The additional authenticated data of a value. It is not stored but computed again for reading, so the stored form is
 * the same with and without it. Whether a value has any is a property of its key.
 * @returns undefined when the key binds and the context is missing or incomplete
 */
function additionalDataOf(
  key: { readonly id: string; readonly bind: boolean },
  context: BindingContext | undefined,
): Buffer | undefined {
  if (!key.bind) return NO_ADDITIONAL_DATA;
  if (context === undefined) return undefined;
  const { entity, field, id } = context;
  return [entity, field, id].every(isPart) ? lengthPrefixed(["keelson1", key.id, entity, field, id]) : undefined;
}

const ALGORITHM = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
// Without it, Node accepts a tag of 4 bytes, which can be forged in minutes.
const OPTIONS = { authTagLength: TAG_BYTES } as const;

/**
 * AES-256-GCM as in NIST SP 800-38D: iv + ciphertext + tag.
 * @param iv 12 bytes that were never used with this key; reusing an iv reveals the authentication key
 */
export function seal(key: KeyObject, iv: Uint8Array, plaintext: Uint8Array, additional: Uint8Array): Buffer {
  const cipher = createCipheriv(ALGORITHM, key, iv, OPTIONS).setAAD(additional);
  return Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/**
 * Decrypts at least 28 sealed bytes; undefined when the key or the additional data do not match, or the bytes were
 * changed.
 */
export function open(key: KeyObject, sealed: Uint8Array, additional: Uint8Array): Buffer | undefined {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, IV_BYTES), OPTIONS)
    .setAAD(additional)
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  const plaintext = decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    return undefined;
  }
}
