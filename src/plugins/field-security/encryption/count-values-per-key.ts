import { type AnyEntity, type EntityLike, resolveEntity } from "../../../entity/index.ts";
import type { Driver } from "../../../gate/index.ts";
import { encryptedFieldsOf } from "./encrypted-fields-of.ts";
import { getEncryptionKeyId } from "./envelope.ts";
import { refuseProtected } from "./protected-driver.ts";

/** How many stored values of one field a key has. */
export interface KeyUsage {
  readonly entity: string;
  readonly field: string;
  /** `null`: values that name no key, which may have any, and what is no encrypted value. */
  readonly keyId: string | null;
  readonly values: number;
}

/**
 * Counts stored values by entity, field and key, those of keys that nobody knows any more included. Reads every row.
 * @param driver the base driver, which sees ciphertext
 * @throws ConfigurationError for one that decrypts
 */
export async function countValuesPerKey(driver: Driver, entities: readonly EntityLike[]): Promise<KeyUsage[]> {
  refuseProtected(driver);
  const usages: KeyUsage[] = [];
  for (const entity of entities.map((one) => resolveEntity(one) as AnyEntity)) {
    for (const field of encryptedFieldsOf(entity)) {
      const counts = new Map<string | null, number>();
      for await (const rows of driver.stream(entity, { where: { [field]: { null: false } }, select: [field] }))
        for (const row of rows) {
          const keyId = getEncryptionKeyId(row[field] as string);
          counts.set(keyId, (counts.get(keyId) ?? 0) + 1);
        }
      for (const [keyId, values] of counts) usages.push({ entity: entity.name, field, keyId, values });
    }
  }
  return usages;
}

/**
 * How many values may become unreadable when a key is removed: those that name it, and those that name none. A key can
 * go when it is 0.
 */
export function valuesNeeding(keyId: string, usages: readonly KeyUsage[]): number {
  const needing = usages.filter((usage) => usage.keyId === keyId || usage.keyId === null);
  return needing.reduce((sum, { values }) => sum + values, 0);
}
