import { RecordChangedError } from "../errors/errors.ts";
import { inTransaction } from "../operations/in-transaction.ts";
import type { MutableOperation } from "../operations/new-operation.ts";
import type { Where } from "../ports/driver.ts";

/**
 * Runs the statement that changes or deletes the record. Where somebody relied on what no condition can compare, or keeps
 * what is replaced, the record is held still first: an update with nothing but its id locks it, so that what is seen then
 * is what the statement finds.
 * @param where what the statement asks of the record
 * @returns whether it matched
 * @throws RecordChangedError
 */
export async function whileUnchanged(
  operation: MutableOperation,
  where: Where,
  write: () => Promise<boolean>,
): Promise<boolean> {
  const { entity, id, isUnchanged, whenHeld } = operation;
  if (isUnchanged === undefined && whenHeld === undefined) return write();
  return inTransaction(operation, async () => {
    const row = await operation.scope.store.update(entity, where, { id });
    if (row === null) return false;
    if (isUnchanged?.(row) === false) throw new RecordChangedError();
    await whenHeld?.(row);
    return write();
  });
}
