import { type EntityRef, entityName, noteUndecryptable, type Row } from "../../../gate/index.ts";
import { DecryptionError } from "../../../kernel/index.ts";
import { blindIndex } from "../encryption/blind-index.ts";
import { type BindingContext, decryptBound, isPlaintext } from "../encryption/cipher.ts";
import { lacksIndexKey } from "../encryption/key-ring.ts";
import { type EncryptedColumn, type EncryptionPlan, suits } from "./encryption-plan.ts";

/** The place of a value that could not be decrypted, for the log. */
interface Failure extends BindingContext {
  readonly reason: string;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Decrypts rows that a driver returned, in place, so that ciphertext is never passed on.
 * @param searched columns by which the rows were searched: failures in these always throw
 * @throws DecryptionError naming entity, field and record, unless the app reads such values as null
 */
export function openRows(plan: EncryptionPlan, ref: EntityRef, rows: readonly Row[], searched = NONE): void {
  const columns = plan.columnsOf(ref);
  if (columns === undefined) return;
  const entity = entityName(ref);
  let first: Failure | undefined;
  let values = 0;
  for (const row of rows) {
    let nulls: Set<string> | undefined;
    for (const column of columns) {
      const failure = openField(plan, column, row, entity);
      if (failure === undefined) continue;
      if (plan.onDecryptError === "fail" || searched.has(column.name)) {
        plan.log.error("A stored value cannot be decrypted", { ...failure.place });
        throw failure.error;
      }
      first ??= failure.place;
      values++;
      row[column.name] = null;
      nulls ??= new Set();
      nulls.add(column.name);
    }
    if (nulls !== undefined) noteUndecryptable(row, nulls);
  }
  if (first !== undefined) plan.log.error("Stored values cannot be decrypted and read as null", { ...first, values });
}

/** Decrypts one value in place. @returns the failure, if any */
function openField(
  plan: EncryptionPlan,
  column: EncryptedColumn,
  row: Row,
  entity: string,
): { readonly place: Failure; readonly error: DecryptionError } | undefined {
  const field = column.name;
  if (row[field] === undefined || row[field] === null) return undefined;
  const place = { entity, field, id: row.id as string };
  try {
    row[field] = openValue(plan, column, row, place);
    return undefined;
  } catch (error) {
    if (error instanceof DecryptionError) return { place: { ...place, reason: error.reason }, error };
    throw error;
  }
}

function openValue(plan: EncryptionPlan, column: EncryptedColumn, row: Row, place: BindingContext): unknown {
  const { ring, allowPlaintext } = plan;
  const stored = row[column.name];
  if (allowPlaintext && isPlaintext(ring, stored)) return stored;
  const { value, bound } = decryptBound(ring, stored, place);
  if (!suits(column, value))
    throw new DecryptionError(`the decrypted value is no ${column.inClear.kind.name}`, { reason: "malformed" });
  const index = column.index === undefined ? undefined : row[column.index];
  // The index of a bound value must match the value. A missing index matches no record.
  if (bound && typeof index === "string" && !lacksIndexKey(ring) && index !== blindIndex(ring, place, value as string))
    throw new DecryptionError("the blind index is that of another value, or was made with another index key", {
      reason: "refused",
    });
  return value;
}
