import { type AnyEntity, ConfigurationError, type EntityLike, resolveEntity } from "../../../entity/index.ts";
import { type BindingContext, decryptBytes, encryptBytes, getEncryptionKeyId } from "./cipher.ts";
import type { KeyRing } from "./key-ring.ts";

/** Options of `reEncryptValue` and `reEncryptRecord`. */
export interface ReEncryptOptions {
  /**
   * Whether the result is bound to its place.
   * @default unchanged: bound values stay bound, unbound values stay unbound
   */
  readonly bind?: boolean | undefined;
}

/**
 * Re-encrypts a value with the primary key and a new iv, without decoding it.
 * @param context the place where it is stored; needed when its own key or the primary key binds
 * @throws DecryptionError when it cannot be decrypted
 * @throws ConfigurationError when the primary key would bind or unbind it and `bind` does not allow that
 */
export function reEncrypt(
  ring: KeyRing,
  encrypted: string,
  context?: BindingContext,
  { bind }: ReEncryptOptions = {},
): string {
  const { bytes, bound } = decryptBytes(ring, encrypted, context);
  const primary = ring.primary as string; // a ring that decrypted something has a primary key
  const binds = ring.binds(primary);
  if ((bind ?? bound) !== binds)
    throw new ConfigurationError(
      `the primary key "${primary}" ${binds ? "binds" : "does not bind"} values to their place, unlike this one; ` +
        `pass { bind: ${binds} } to ${binds ? "bind" : "unbind"} it`,
    );
  return encryptBytes(ring, bytes, context);
}

/**
 * A copy of a stored record, as the driver returns it, with all encrypted fields under the primary key. Nulls, and
 * values that already have the primary key, stay unchanged (spec 2.4 rule 10).
 * @throws the error of `reEncrypt`, for the first value that fails
 */
export function reEncryptStored<T extends object>(
  ring: KeyRing,
  data: T,
  entity: EntityLike,
  options?: ReEncryptOptions,
): { readonly data: T; readonly reEncryptedCount: number } {
  const definition = resolveEntity(entity) as AnyEntity;
  const record = { ...data } as Record<string, unknown>;
  let reEncryptedCount = 0;
  for (const field of encryptedFieldsOf(definition)) {
    const value = record[field] as string | null | undefined;
    if (value === null || value === undefined) continue;
    if (isCurrent(ring, value)) continue;
    record[field] = reEncrypt(ring, value, { entity: definition.name, field, id: record.id as string }, options);
    reEncryptedCount++;
  }
  return { data: record as T, reEncryptedCount };
}

/** Whether a value already has the primary key. */
export function isCurrent(ring: KeyRing, encrypted: string): boolean {
  const keyId = getEncryptionKeyId(encrypted);
  return keyId !== null && keyId === ring.primary;
}

/** Names of the columns that contain ciphertext. */
export function encryptedFieldsOf(entity: AnyEntity): readonly string[] {
  return Object.values(entity.columns)
    .filter(({ field }) => field?.encrypted !== undefined)
    .map(({ name }) => name);
}
