import { randomBytes } from "node:crypto";
import { ConfigurationError } from "../../../entity/index.ts";
import { DecryptionError } from "../../../kernel/index.ts";
import { IV_BYTES, open, seal } from "./aes-gcm.ts";
import { additionalDataOf, type BindingContext } from "./binding.ts";
import { type Envelope, readEnvelope, writeEnvelope } from "./envelope.ts";
import { type KeyRing, storeOf } from "./key-ring.ts";
import { takePrimary } from "./key-store.ts";
import { decodeValue, type Encryptable, encodeValue } from "./value-codec.ts";

/** Decrypted bytes. */
export interface Opened {
  readonly bytes: Buffer;
  /** Whether the value was bound to its place. */
  readonly bound: boolean;
}

const NO_ADDITIONAL_DATA = Buffer.alloc(0);
const NEED = "binds values to their place: pass { entity, field, id }";

/** Bytes in the stored form, under the primary key. @throws ConfigurationError */
export function encryptBytes(ring: KeyRing, bytes: Uint8Array, context?: BindingContext): string {
  const key = takePrimary(storeOf(ring));
  const additional = additionalDataOf(key, context);
  if (additional === undefined) throw new ConfigurationError(`the encryption key "${key.id}" ${NEED}`);
  return writeEnvelope(key.id, seal(key.secret, randomBytes(IV_BYTES), bytes, additional));
}

/** The bytes behind the stored form. @throws DecryptionError */
export function decryptBytes(ring: KeyRing, encrypted: unknown, context?: BindingContext): Opened {
  const envelope = readEnvelope(encrypted);
  if (envelope === undefined)
    throw new DecryptionError("what is stored is no encrypted value", { reason: "malformed" });
  return envelope.keyId === null ? openWithAnyKey(ring, envelope) : openWithItsKey(ring, envelope, context);
}

/** A value that names its key is opened with that key or not at all: no other rule for it can be chosen by relabelling. */
function openWithItsKey(ring: KeyRing, { keyId, sealed }: Envelope, context: BindingContext | undefined): Opened {
  const { keys } = storeOf(ring);
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

/** A value from before key ids may have any key (spec 2.4 rule 9), and was never bound. */
function openWithAnyKey(ring: KeyRing, { sealed }: Envelope): Opened {
  for (const { secret } of storeOf(ring).keys.values()) {
    const bytes = open(secret, sealed, NO_ADDITIONAL_DATA);
    if (bytes !== undefined) return { bytes, bound: false };
  }
  throw new DecryptionError("none of the registered keys opens this value, which names no key", { reason: "refused" });
}

/**
 * Encrypts a value under the ring's primary key, whatever it looks like: what seems encrypted already is encrypted again.
 * @param context where it will be stored; needed when the primary key binds, and not used otherwise
 * @throws ConfigurationError without a key, or without the context that the key needs
 * @throws BadRequestError for values that would not come back the same
 */
export function encrypt(ring: KeyRing, value: unknown, context?: BindingContext): string {
  return encryptBytes(ring, encodeValue(value), context);
}

/**
 * The value behind a stored form, of the type it had.
 * @throws DecryptionError when it is malformed, changed, moved, or its key is not there; never with the value or the key
 */
export function decrypt(ring: KeyRing, encrypted: unknown, context?: BindingContext): Encryptable {
  return decryptBound(ring, encrypted, context).value;
}

/** The same, and whether the value was bound to its place. @throws DecryptionError */
export function decryptBound(
  ring: KeyRing,
  encrypted: unknown,
  context?: BindingContext,
): { readonly value: Encryptable; readonly bound: boolean } {
  const { bytes, bound } = decryptBytes(ring, encrypted, context);
  const value = decodeValue(bytes);
  if (value === undefined)
    throw new DecryptionError("the decrypted bytes are no value of this version", { reason: "malformed" });
  return { value, bound };
}

/**
 * Whether something has the stored form. Only the form is looked at where a key id is named; a text without one may as
 * well be any other base64, and counts when one of the ring's keys opens it.
 */
export function isEncryptedWith(ring: KeyRing, value: unknown): value is string {
  const envelope = readEnvelope(value);
  if (envelope === undefined) return false;
  if (envelope.keyId !== null) return true;
  return [...storeOf(ring).keys.values()].some(({ secret }) => open(secret, envelope.sealed, NO_ADDITIONAL_DATA));
}

/**
 * Whether something may be a value from before its field was encrypted: it has not the stored form, and does not begin as
 * values of the ring's keys do. What begins so and has not the form is a damaged value.
 */
export function isPlaintext(ring: KeyRing, value: unknown): boolean {
  if (isEncryptedWith(ring, value)) return false;
  return typeof value !== "string" || !value.includes(":") || !ring.has(value.slice(0, value.indexOf(":")));
}
