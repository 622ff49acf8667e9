import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { ConfigurationError } from "../../../entity/index.ts";

/** The key id of a key that is given none. */
export const DEFAULT_KEY_ID = "v1";

const KEY_ID = /^[A-Za-z0-9._-]{1,64}$/;
const HEX_KEY = /^[0-9A-Fa-f]{64}$/;
/** Half a key, too. */
const KEY_LIKE = /[0-9A-Fa-f]{32}/;

/** A key that values are encrypted with. */
export interface DataKey {
  readonly id: string;
  /** Opaque: neither `util.inspect` nor JSON shows its bytes. */
  readonly secret: KeyObject;
  /** Whether its values are bound to entity, field and record. */
  readonly bind: boolean;
}

/** A random key of 32 bytes, as 64 hexadecimal characters (spec 2.4 rule 8). */
export function generateEncryptionKey(): string {
  return randomBytes(32).toString("hex");
}

/** Whether a text may name a key. It has no colon, so that the first one in a stored value ends the key id. */
export function isKeyId(text: unknown): text is string {
  return typeof text === "string" && KEY_ID.test(text);
}

/** @throws ConfigurationError unless it may name a key, and is not one: ids are in every value, and in messages */
export function checkKeyId(keyId: unknown): asserts keyId is string {
  if (!isKeyId(keyId))
    throw new ConfigurationError("a key id is 1 to 64 letters, digits, dots, underscores and hyphens");
  if (HEX_KEY.test(keyId))
    throw new ConfigurationError(
      "this key id looks like a key, and ids are stored with every value; choose another one",
    );
}

/** A key id in words for a message; what may be a key in the wrong place is not repeated. */
export function quotedKeyId(keyId: unknown): string {
  return isKeyId(keyId) && !KEY_LIKE.test(keyId) ? `"${keyId}"` : "of this id";
}

/**
 * Reads a key. Node would make 0 or 31 bytes of a bad text without a word, hence the check.
 * @throws ConfigurationError that does not quote it
 */
export function readKey(hex: unknown): KeyObject {
  if (typeof hex === "string" && HEX_KEY.test(hex)) return createSecretKey(hex, "hex");
  throw new ConfigurationError(
    `an encryption key is exactly 64 hexadecimal characters (32 bytes); ${shapeOf(hex)}. generateEncryptionKey() makes one`,
  );
}

function shapeOf(key: unknown): string {
  if (typeof key !== "string") return `this is ${typeof key}`;
  return key.length === 64 ? "not all of these are" : `these are ${key.length}`;
}

/** Whether a key is the one that people type when they need just any. */
export function isZeroKey(secret: KeyObject): boolean {
  return secret.equals(createSecretKey(Buffer.alloc(32)));
}
