import { RecordChangedError } from "../../kernel/index.ts";
import { type Condition, looksAt } from "../condition/condition.ts";
import type { Row } from "../condition/where.ts";
import { inTransaction } from "../operation/in-transaction.ts";
import type { MutableOperation } from "../operation/new-operation.ts";
import { testsOf } from "../operation/requirement.ts";
import { keysOf, lockShared, sharedPaths } from "./lock-shared.ts";

/**
 * Runs the statement that changes or deletes the record. The record is locked first where a decision relied on values that
 * no condition can compare, or a listener keeps what is replaced: what is seen then is what the statement finds. It is also
 * locked where the statement asks for related records and transactions run concurrently, because a statement that had to
 * wait for the record would look at them as they were before it waited. Where the condition comes back to the record's
 * entity, the records on its way are locked before (`lockShared`).
 * @param where what the statement asks of the record
 * @param write the statement; it is given the record, where that is held
 * @returns whether it matched
 * @throws RecordChangedError
 */
export async function whileUnchanged(
  operation: MutableOperation,
  where: Condition,
  write: (held: Row | undefined) => Promise<boolean>,
): Promise<boolean> {
  const { entity, id, requirements, heldListeners, scope } = operation;
  const isUnchanged = testsOf(requirements);
  const isConcurrent = scope.store.capabilities.concurrentTransactions;
  const isHeld = isUnchanged !== undefined || heldListeners.length > 0;
  if (!isHeld && !(isConcurrent && looksAt(where))) return write(undefined);
  if (id !== undefined && id.length > scope.limits.idLength) return false; // no column holds it, so no record has it
  return inTransaction(operation, async () => {
    const { store } = operation.scope;
    const paths = isConcurrent ? sharedPaths(where, entity) : [];
    // The record as it is, and as it will be: both have to do with the others.
    const states = (row: Row): readonly Row[] => [row, { ...row, ...operation.data }];
    const before = paths.length === 0 ? null : await store.findOne(entity, { id }, { select: keysOf(paths) });
    const own = { entity, id: id as string };
    const assertShared = before === null ? undefined : await lockShared(store, paths, states(before), own);
    const row = await store.findOne(entity, where, { lock: true });
    if (row === null) return false;
    await assertShared?.(states(row));
    if (isUnchanged?.(row) === false) throw new RecordChangedError();
    for (const listener of heldListeners) await listener(row);
    return write(row);
  });
}
