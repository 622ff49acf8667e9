import { DatabaseError, type EntityRef, entityName, type Row } from "../../../kernel/index.ts";
import { blindIndex } from "../encryption/blind-index.ts";
import { encrypt } from "../encryption/cipher.ts";
import type { EncryptionPlan } from "./encryption-plan.ts";
import { suits } from "./suits.ts";

/**
 * A row as it is stored: encrypted fields as ciphertext of this record, with their blind indexes.
 * @param id of the record, which keys that bind need
 * @throws DatabaseError for values of another type than their field, as of any column
 */
export function storedRow(plan: EncryptionPlan, ref: EntityRef, row: Row, id: string): Row {
  const columns = plan.columnsOf(ref);
  if (columns === undefined) return row;
  const entity = entityName(ref);
  const stored = { ...row };
  for (const column of columns) {
    const { name, index } = column;
    const value = row[name];
    if (value === undefined) continue;
    if (value !== null && !suits(column, value)) throw new DatabaseError(`${entity}.${name} cannot hold this value`);
    stored[name] = value === null ? null : encrypt(plan.ring, value, { entity, field: name, id });
    if (index !== undefined)
      stored[index] = value === null ? null : blindIndex(plan.ring, { entity, field: name }, value as string);
  }
  return stored;
}
