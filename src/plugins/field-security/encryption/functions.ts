// Specification 2.4, rules 8 to 11: encryption with the process-wide keys. All functions are synchronous and may be awaited.
import type { EntityLike } from "../../../entity/index.ts";
import { getLogger } from "../../../kernel/index.ts";
import { type BindingContext, decrypt, encrypt, isEncryptedWith } from "./cipher.ts";
import { checkKeyId, DEFAULT_KEY_ID, readKey } from "./data-key.ts";
import { defaultRing, type KeyOptions } from "./key-ring.ts";
import { type ReEncryptOptions, reEncrypt, reEncryptStored } from "./re-encrypt.ts";
import type { Encryptable } from "./value-codec.ts";

/** Options of `initEncryption`. */
export interface EncryptionOptions extends KeyOptions {
  /** Exactly 64 hexadecimal characters: 32 bytes. */
  readonly key: string;
  /** @default "v1" */
  readonly keyId?: string | undefined;
  /**
   * The key from which blind indexes of searchable fields are derived, as 64 hexadecimal characters.
   * @default the key, as long as there is no second one
   */
  readonly indexKey?: string | undefined;
}

/**
 * Replaces all registered keys with one key, which becomes primary.
 * @throws ConfigurationError when a key or the id is malformed; the registered keys then stay
 * @example
 * initEncryption({ key: process.env.ENCRYPTION_KEY, keyId: "2024" })
 */
export function initEncryption(key: string, keyId?: string): void;
export function initEncryption(options: EncryptionOptions): void;
export function initEncryption(first: string | EncryptionOptions, id?: string): void {
  const options: EncryptionOptions = typeof first === "object" && first !== null ? first : { key: first, keyId: id };
  const { key, keyId = DEFAULT_KEY_ID, bind, indexKey } = options;
  for (const given of indexKey === undefined ? [key] : [key, indexKey]) readKey(given);
  checkKeyId(keyId);
  if (defaultRing.ids.length > 0)
    getLogger().warn("initEncryption was called again: the keys registered before are forgotten", {
      keyIds: defaultRing.ids,
    });
  defaultRing.clear();
  if (indexKey !== undefined) defaultRing.setIndexKey(indexKey);
  defaultRing.register(key, keyId, { bind });
}

/** Adds a key for reading. The first key becomes primary. @throws ConfigurationError as `KeyRing.register` */
export function registerEncryptionKey(key: string, keyId: string, options?: KeyOptions): void {
  defaultRing.register(key, keyId, options);
}

/**
 * Selects the key for new values. Every process must have registered the key before one of them makes it primary.
 * @throws ConfigurationError for an unknown key; the primary key then stays
 */
export function setPrimaryEncryptionKey(keyId: string): void {
  defaultRing.setPrimary(keyId);
}

/** Ids of the registered keys, in the order of registration. */
export function getRegisteredKeyIds(): string[] {
  return [...defaultRing.ids];
}

/**
 * Removes a key. Its values can no longer be read, so re-encrypt them first (spec 2.4 rule 11).
 * @throws ConfigurationError for the primary key, and unknown ids
 */
export function removeEncryptionKey(keyId: string): void {
  defaultRing.remove(keyId);
}

/** Removes all keys. */
export function clearEncryptionKeys(): void {
  defaultRing.clear();
}

/**
 * Encrypts a value: `<key_id>:base64(iv + ciphertext + tag)`. Values that already look encrypted are encrypted again;
 * `null` stays `null`.
 * @param context the place where it will be stored; only keys registered with `bind` need it
 * @throws ConfigurationError without a key, or without a context that the key needs
 * @throws BadRequestError for values that would not be restored exactly
 */
export function encryptValue(value: Encryptable, context?: BindingContext): string;
export function encryptValue(value: Encryptable | null, context?: BindingContext): string | null;
export function encryptValue(value: Encryptable | null, context?: BindingContext): string | null {
  return value === null ? null : encrypt(defaultRing, value, context);
}

/**
 * Decrypts a stored value and restores its type, which is text unless another type was encrypted. `null` stays `null`.
 * @throws DecryptionError when it is malformed, changed or moved, or its key is not registered
 */
export function decryptValue<T extends Encryptable = string>(encrypted: string, context?: BindingContext): T;
export function decryptValue<T extends Encryptable = string>(
  encrypted: string | null,
  context?: BindingContext,
): T | null;
export function decryptValue<T extends Encryptable>(encrypted: string | null, context?: BindingContext): T | null {
  return encrypted === null ? null : (decrypt(defaultRing, encrypted, context) as T);
}

/**
 * Whether a value has the stored form. Text without a key id could be any base64, so it only counts if a registered key
 * decrypts it.
 */
export function isEncrypted(value: unknown): value is string {
  return isEncryptedWith(defaultRing, value);
}

/** Re-encrypts a value with the primary key and a new iv. @throws as `reEncrypt` */
export function reEncryptValue(encrypted: string, context?: BindingContext, options?: ReEncryptOptions): string {
  return reEncrypt(defaultRing, encrypted, context, options);
}

/**
 * A copy of a stored record with all encrypted fields re-encrypted with the primary key. Save it if `reEncryptedCount >
 * 0`, and only if the row has not changed since it was read.
 */
export function reEncryptRecord<T extends object>(
  data: T,
  entity: EntityLike,
  options?: ReEncryptOptions,
): { readonly data: T; readonly reEncryptedCount: number } {
  return reEncryptStored(defaultRing, data, entity, options);
}
