import type { AnyEntity } from "../../../entity/index.ts";

/** Names of the columns that hold ciphertext. */
export function encryptedFieldsOf(entity: AnyEntity): readonly string[] {
  return Object.values(entity.columns)
    .filter(({ field }) => field?.encrypted !== undefined)
    .map(({ name }) => name);
}
