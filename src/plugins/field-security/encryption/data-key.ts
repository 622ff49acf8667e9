import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { ConfigurationError } from "../../../entity/index.ts";

/** The default key id. */
export const DEFAULT_KEY_ID = "v1";

const KEY_ID = /^[A-Za-z0-9._-]{1,64}$/;
const HEX_KEY = /^[0-9A-Fa-f]{64}$/;
/** Matches half a key, too. */
const KEY_LIKE = /[0-9A-Fa-f]{32}/;

/** A key that encrypts values. */
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

/** Whether a text is a valid key id. It has no colon, because the first colon of a stored value ends the key id. */
export function isKeyId(text: unknown): text is string {
  return typeof text === "string" && KEY_ID.test(text);
}

/**
 * @throws ConfigurationError if it is not a valid key id, or looks like a key: ids are stored with values and shown in
 * messages
 */
export function checkKeyId(keyId: unknown): asserts keyId is string {
  if (!isKeyId(keyId))
    throw new ConfigurationError("a key id is 1 to 64 letters, digits, dots, underscores and hyphens");
  if (HEX_KEY.test(keyId))
    throw new ConfigurationError(
      "this key id looks like a key, and ids are stored with every value; choose another one",
    );
}

/** A key id for a message. It is not quoted if it could be a key by mistake. */
export function quotedKeyId(keyId: unknown): string {
  return isKeyId(keyId) && !KEY_LIKE.test(keyId) ? `"${keyId}"` : "of this id";
}

/**
 * Reads a key. The check is needed because Node silently makes a key of 0 or 31 bytes from bad text.
 * @throws ConfigurationError without the text of the key
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

/** Whether a key is all zeros, a common placeholder. */
export function isZeroKey(secret: KeyObject): boolean {
  return secret.equals(createSecretKey(Buffer.alloc(32)));
}
