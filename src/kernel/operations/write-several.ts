import { InternalError } from "../errors/errors.ts";
import { allOf } from "../where/condition.ts";
import { dependsOn, looksAt } from "../where/members.ts";
import type { MutableOperation } from "./new-operation.ts";

/** Ends an operation on several records that need one each. Never leaves the gate. */
export const ONE_BY_ONE: Error = new InternalError("Each record needs an operation of its own");

/**
 * Changes or deletes several records in one statement that carries the rule, where that gives what one after the other
 * would. Throws `ONE_BY_ONE` where somebody has to look at each, or would see the changes before.
 */
export async function writeSeveral(operation: MutableOperation, ids: readonly string[]): Promise<void> {
  const { entity, kind, scope, data, decision, existsWhere, extraWhere, when } = operation;
  const changed = Object.keys(data);
  const conditions = allOf(decision.predicate, existsWhere, extraWhere, when);
  if (needsEach(operation) || dependsOn(scope.model, entity, decision.predicate, changed)) throw ONE_BY_ONE;
  // Deleting changes records that refer to the deleted ones, too. What is asked of related records is asked again of each
  // record once it is locked, where others write meanwhile; see `whileUnchanged`.
  const isAny = kind === "delete" || scope.store.capabilities.concurrentTransactions;
  if (looksAt(scope.model, entity, conditions, isAny ? undefined : entity)) throw ONE_BY_ONE;
  const where = allOf({ id: { in: ids } }, conditions);
  if (kind === "delete") {
    operation.total = await scope.store.deleteMany(entity, where);
  } else {
    // Nothing is left to change when the caller may write none of it.
    if (changed.length > 0 && entity.timestamps) data.updatedAt ??= scope.runtime.clock.now();
    operation.total = changed.length === 0 ? 0 : await scope.store.updateMany(entity, where, data);
  }
}

function needsEach(operation: MutableOperation): boolean {
  const { decision, expected, isUnchanged, whenHeld } = operation;
  const seen = decision.guard ?? expected ?? isUnchanged ?? whenHeld;
  return seen !== undefined || operation.apart || operation.transactional;
}
