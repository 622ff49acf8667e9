import type { AnyEntity } from "../../entity/index.ts";
import { allOf, compileWhere } from "../condition/compile-where.ts";
import { looksAt } from "../condition/condition.ts";
import type { FurtherWrite, PairChange } from "../operation/further-write.ts";
import { conditionUpTo, type MutableOperation } from "../operation/new-operation.ts";
import type { Operation } from "../operation/operation.ts";
import { decideCreateAgain } from "./execute-create.ts";
import { decideUpdateAgain } from "./execute-write.ts";

const changedPairs = new WeakMap<Operation, readonly PairChange[]>();

/** Notes the pairs that a write has changed, which do not count when it is decided again. */
export function notePairs(operation: Operation, pairs: readonly PairChange[]): void {
  changedPairs.set(operation, pairs);
}

/** The noted pairs of a write; undefined for a write that has noted no pairs. */
export const pairsChangedBy = (operation: Operation): readonly PairChange[] | undefined => changedPairs.get(operation);

/**
 * Decides again on a stored record, and calls the listeners of `whenDecidedAgain`: storing its pairs or nested records may
 * have waited for other transactions. Does nothing if transactions do not run concurrently.
 * @param further further writes of the operation, in their order; like its own, they do not count
 * @throws AuthenticationError, AuthorizationError, RecordChangedError, and errors of the listeners
 */
export async function decideAgain(given: Operation, further: readonly FurtherWrite[] = []): Promise<void> {
  const operation = given as MutableOperation;
  if (!operation.scope.store.capabilities.concurrentTransactions) return;
  const writes = [...ownWrite(operation, pairsChangedBy(operation)), ...further];
  await (operation.kind === "create" ? decideCreateAgain : decideUpdateAgain)(operation, writes);
  for (const listener of operation.againListeners) await listener(writes, further);
}

/** Calls the listeners of `whenDecidedAgain` after the statement of a write that may have waited, before its pairs. */
export async function decideAfterStatement(operation: MutableOperation): Promise<void> {
  const writes = ownWrite(operation, undefined);
  for (const listener of operation.againListeners) await listener(writes, []);
}

/** The create or update itself; empty for an update whose record was not locked, on which no decision depends. */
function ownWrite(
  { entity, kind, records, held }: MutableOperation,
  pairs: readonly PairChange[] | undefined,
): readonly FurtherWrite[] {
  const before = kind === "create" ? null : held;
  return before === undefined ? [] : [{ entity, id: records[0]?.id, before, pairs }];
}

/** The entities of records on which the decisions about a write depend. */
export function entitiesInRule(operation: Operation): readonly AnyEntity[] {
  const { decision, entity, requirements, scope, againListeners } = operation as MutableOperation;
  const { model } = scope.app;
  if (decision.guard !== undefined || againListeners.length > 0) return model.entities; // conditions are not known yet
  const where = compileWhere(model, entity, allOf(decision.predicate, conditionUpTo(requirements, "changed")));
  return model.entities.filter((one) => looksAt(where, one));
}
