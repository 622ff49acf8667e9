import { DecryptionError, type EntityRef, entityName, type Row } from "../../../kernel/index.ts";
import { blindIndex } from "../encryption/blind-index.ts";
import { decrypt, encrypt, isEncryptedWith } from "../encryption/cipher.ts";
import type { EncryptionPlan } from "./encryption-plan.ts";

/**
 * A row as it is stored: encrypted fields as ciphertext of this record, with their blind indexes.
 * @param id of the record, which keys that bind need
 */
export function storedRow(plan: EncryptionPlan, ref: EntityRef, row: Row, id: string): Row {
  const columns = plan.columnsOf(ref);
  if (columns === undefined) return row;
  const entity = entityName(ref);
  const stored = { ...row };
  for (const { name, index } of columns) {
    const value = row[name];
    if (value === undefined) continue;
    stored[name] = value === null ? null : encrypt(plan.ring, value, { entity, field: name, id });
    if (index !== undefined)
      stored[index] = value === null ? null : blindIndex(plan.ring, { entity, field: name }, value as string);
  }
  return stored;
}

/**
 * Decrypts a row that a driver returned, in place. Ciphertext never gets further than here.
 * @throws DecryptionError naming entity, field and record, unless the app prefers null
 */
export function openRow(plan: EncryptionPlan, ref: EntityRef, row: Row): Row {
  const columns = plan.columnsOf(ref);
  if (columns === undefined) return row;
  const entity = entityName(ref);
  for (const { name } of columns) {
    const value = row[name];
    if (value === undefined || value === null) continue;
    row[name] = open(plan, value, { entity, field: name, id: row.id as string });
  }
  return row;
}

function open(plan: EncryptionPlan, value: unknown, place: Parameters<typeof decrypt>[2] & object): unknown {
  if (plan.allowPlaintext && !isEncryptedWith(plan.ring, value)) return value;
  try {
    return decrypt(plan.ring, value, place);
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    plan.log.error("A stored value cannot be decrypted", { ...place, reason: error.reason });
    if (plan.onDecryptError === "null") return null;
    throw error;
  }
}
