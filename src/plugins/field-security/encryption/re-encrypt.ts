import { type AnyEntity, ConfigurationError, type EntityLike, resolveEntity } from "../../../entity/index.ts";
import { type BindingContext, decryptBytes, encryptBytes, getEncryptionKeyId } from "./cipher.ts";
import type { KeyRing } from "./key-ring.ts";

/** Options of `reEncryptValue` and `reEncryptRecord`. */
export interface ReEncryptOptions {
  /**
   * What the value may become: `true` bound to its place, `false` not bound.
   * @default as it is: a bound value stays bound, one that opens without context goes on doing so
   */
  readonly bind?: boolean | undefined;
}

/**
 * A value under the primary key, with a new iv. Its bytes are not looked into.
 * @param context where it is stored; needed when its key binds, or the primary one
 * @throws DecryptionError when it does not open
 * @throws ConfigurationError when the primary key would bind or unbind it and `bind` does not say so
 */
export function reEncrypt(
  ring: KeyRing,
  encrypted: string,
  context?: BindingContext,
  { bind }: ReEncryptOptions = {},
): string {
  const { bytes, bound } = decryptBytes(ring, encrypted, context);
  const primary = ring.primary as string; // a ring that opened something has one
  const binds = ring.binds(primary);
  if ((bind ?? bound) !== binds)
    throw new ConfigurationError(
      `the primary key "${primary}" ${binds ? "binds" : "does not bind"} values to their place, unlike this one; ` +
        `pass { bind: ${binds} } to ${binds ? "bind" : "unbind"} it`,
    );
  return encryptBytes(ring, bytes, context);
}

/**
 * A copy of a stored record, as the driver returns it, whose encrypted fields are all under the primary key. Nulls, and
 * values that are there already, stay as they are (spec 2.4 rule 10).
 * @throws what `reEncrypt` throws, for the first value it does not accept
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

/** Whether a value is under the primary key already. */
export function isCurrent(ring: KeyRing, encrypted: string): boolean {
  const keyId = getEncryptionKeyId(encrypted);
  return keyId !== null && keyId === ring.primary;
}

/** Names of the columns that hold ciphertext. */
export function encryptedFieldsOf(entity: AnyEntity): readonly string[] {
  return Object.values(entity.columns)
    .filter(({ field }) => field?.encrypted !== undefined)
    .map(({ name }) => name);
}
