import { RecordChangedError } from "../errors/errors.ts";
import { missingOrDenied } from "../operations/execute-read.ts";
import type { MutableOperation } from "../operations/new-operation.ts";
import { NOTHING_DONE } from "../operations/nothing-done.ts";
import type { Where } from "../ports/driver.ts";
import { allOf } from "./condition.ts";

/** The record as the statement of a write must find it. */
export function wanted(
  { id, existsWhere, extraWhere, when, expected, required }: MutableOperation,
  predicate: Where | undefined,
): Where {
  return allOf({ id }, predicate, existsWhere, extraWhere, required, when, expected);
}

/**
 * Why the statement matched nothing. The rules come first: the record is none that the caller may change. Or it is not
 * what the caller required, or no longer what somebody saw of it, and worth another look.
 */
export async function unmatched(operation: MutableOperation): Promise<Error> {
  const { entity, id, decision, existsWhere, extraWhere, expected, precondition, required, scope, when } = operation;
  const { guard, predicate } = decision;
  const reachable = allOf({ id }, guard === undefined ? predicate : undefined, existsWhere, extraWhere);
  const finds = async (...besides: readonly (Where | undefined)[]): Promise<boolean> =>
    (await scope.store.findOne(entity, allOf(reachable, ...besides), { select: ["id"] })) !== null;
  const hasSeen = guard !== undefined || expected !== undefined;
  if (!(hasSeen || when || precondition) || !(await finds())) return missingOrDenied(operation);
  if (precondition !== undefined && !(await finds(required))) return precondition.refusal();
  // Which of the conditions failed matters only when there are both.
  return when !== undefined && (!hasSeen || !(await finds(when))) ? NOTHING_DONE : new RecordChangedError();
}
