import { allOf, compileWhere } from "../condition/compile-where.ts";
import { dependsOn, looksAt } from "../condition/condition.ts";
import { type MutableOperation, ONE_BY_ONE } from "../operation/new-operation.ts";
import { conditionUpTo, isRequired } from "../operation/requirement.ts";

/**
 * Changes or deletes several records in one statement that carries the rule, where that gives what one after the other
 * would. Throws `ONE_BY_ONE` where a rule, a hook or a requirement has to look at each record, or where a condition may
 * depend on records that were changed before.
 */
export async function writeSeveral(operation: MutableOperation, ids: readonly string[]): Promise<void> {
  const { entity, kind, scope, data, decision, requirements } = operation;
  const changed = Object.keys(data);
  const rule = compileWhere(scope.model, entity, decision.predicate);
  if (needsEach(operation) || dependsOn(entity, rule, changed)) throw ONE_BY_ONE;
  const conditions = compileWhere(scope.model, entity, allOf(rule, conditionUpTo(requirements, "leave")));
  // Deleting changes records that refer to the deleted ones, too. What is asked of related records is asked again of each
  // record once it is locked, where others write meanwhile; see `whileUnchanged`.
  const isAny = kind === "delete" || scope.store.capabilities.concurrentTransactions;
  if (looksAt(conditions, isAny ? undefined : entity)) throw ONE_BY_ONE;
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
  const { decision, requirements, heldListeners, writtenListeners } = operation;
  const isSeen =
    decision.guard !== undefined ||
    heldListeners.length + writtenListeners.length > 0 ||
    isRequired(requirements, "changed");
  return isSeen || isRequired(requirements, "asked") || operation.apart || operation.transactional;
}
