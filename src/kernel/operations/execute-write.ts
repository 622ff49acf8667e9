import { AuthorizationError, EntityNotFoundError, RecordChangedError } from "../errors/errors.ts";
import type { Where } from "../ports/driver.ts";
import { allOf, compileWhere } from "../where/condition.ts";
import { matchesAlone } from "../where/matches.ts";
import { dependsOn } from "../where/members.ts";
import { type Observation, observe } from "../where/observe.ts";
import { deniedError } from "./denied.ts";
import { missingOrDenied, satisfiesPredicate } from "./execute-read.ts";
import { inTransaction } from "./in-transaction.ts";
import type { MutableOperation } from "./new-operation.ts";

/** Stores a new record with an id and timestamps of ours. */
export async function runCreate(operation: MutableOperation): Promise<void> {
  const { entity, decision, scope, data } = operation;
  const { clock, ids, production } = scope.runtime;
  data.id ??= ids.next();
  if (entity.timestamps) {
    const now = clock.now();
    data.createdAt ??= now;
    data.updatedAt ??= now;
  }
  const store = async (): Promise<void> => {
    operation.records = [await operation.scope.store.create(entity, data)];
  };
  if (decision.predicate === undefined) {
    if (decision.guard !== undefined && !(await decision.guard(data))) throw deniedError(operation, production);
    return store();
  }
  // Before anything is stored where that is possible, so that a unique value somebody else has taken tells nothing.
  const fails = matchesAlone(compileWhere(scope.model, entity, decision.predicate), data) === false;
  if (fails && decision.guard === undefined) throw deniedError(operation, production);
  if (operation.transactional) return store(); // checked again after its links, see `recheck`
  await inTransaction(operation, async () => {
    await store();
    await recheck(operation);
  });
}

/**
 * After a write and its links: the record must (still) be one the caller may write, or everything rolls back. The
 * database itself is asked, since a predicate may look at related records.
 */
export async function recheck(operation: MutableOperation): Promise<void> {
  const { decision, kind, records, scope } = operation;
  const row = records[0];
  if (decision.predicate === undefined || row === undefined || (kind !== "create" && kind !== "update")) return;
  if ((await satisfiesPredicate(operation)) || (await decision.guard?.(row)) === true) return;
  if (kind === "create") throw deniedError(operation, scope.runtime.production);
  throw noLongerYours();
}

function noLongerYours(): Error {
  return new AuthorizationError("The record would no longer be yours to change");
}

/** Changes one record in a statement that carries the rule; afterwards the row must still satisfy the rule. */
export async function runUpdate(operation: MutableOperation): Promise<void> {
  const { entity, data, scope, decision } = operation;
  const changed = Object.keys(data);
  // Links alone change the record too: the statement carries the rule and locks the row until they are stored.
  const isWrite = changed.length > 0 || operation.transactional;
  if (isWrite && entity.timestamps) data.updatedAt ??= scope.runtime.clock.now();
  else if (isWrite && changed.length === 0) data.id = operation.id;
  if (decision.guard !== undefined)
    return guardedWrite(operation, changed, (where) => writeUpdate(operation, where, !isWrite));
  const where = allOf({ id: operation.id }, decision.predicate, operation.extraWhere, operation.expected);
  if (touches(operation, changed)) {
    return inTransaction(operation, async () => {
      await refuseLeaving(operation, where);
      if (!(await writeUpdate(operation, where, false))) throw await unmatched(operation);
      if (!(await satisfiesPredicate(operation))) throw noLongerYours();
    });
  }
  if (!(await writeUpdate(operation, where, !isWrite))) throw await unmatched(operation);
}

/** Before the write, so that a unique value somebody else has taken tells nothing about records out of reach. */
async function refuseLeaving({ entity, scope, decision, data }: MutableOperation, where: Where): Promise<void> {
  const row = await scope.store.findOne(entity, where);
  if (row === null || decision.predicate === undefined) return;
  const condition = compileWhere(scope.model, entity, decision.predicate);
  if (matchesAlone(condition, { ...row, ...data }) === false) throw noLongerYours();
}

/** Why a statement matched nothing. A record that only changed is looked at again, and then missing if it is. */
async function unmatched(operation: MutableOperation): Promise<Error> {
  return operation.expected === undefined ? missingOrDenied(operation) : new RecordChangedError();
}

async function writeUpdate(operation: MutableOperation, where: Where, nothingToChange: boolean): Promise<boolean> {
  const { entity, data, scope } = operation;
  const row = nothingToChange
    ? await scope.store.findOne(entity, where)
    : await scope.store.update(entity, where, data);
  operation.records = row === null ? [] : [row];
  return row !== null;
}

/** Deletes one record in a statement that carries the rule. */
export async function runDelete(operation: MutableOperation): Promise<void> {
  const { entity, decision } = operation;
  const remove = (where: Where): Promise<boolean> => operation.scope.store.delete(entity, where);
  if (decision.guard !== undefined) return guardedWrite(operation, [], remove);
  const where = allOf({ id: operation.id }, decision.predicate, operation.extraWhere, operation.expected);
  if (!(await remove(where))) throw await unmatched(operation);
}

/**
 * A write whose rules have to see the record: load, decide, and write only if what the rules saw is still so.
 * @throws RecordChangedError when it is not
 */
async function guardedWrite(
  operation: MutableOperation,
  changed: readonly string[],
  write: (where: Where) => Promise<boolean>,
): Promise<void> {
  const { entity, id, decision, scope } = operation;
  const row = await scope.store.findOne(entity, { id });
  if (row === null) throw new EntityNotFoundError();
  const seen = observe(entity, row);
  const byPredicate = await satisfiesPredicate(operation);
  if (!byPredicate && !(await decision.guard?.(seen.record))) throw deniedError(operation, scope.runtime.production);
  const decided = byPredicate ? decision.predicate : seen.conditions();
  const where = allOf({ id }, decided, operation.extraWhere, operation.expected);
  if (await writeAndRecheck(operation, where, changed, seen, write)) return;
  throw operation.extraWhere === undefined ? new RecordChangedError() : await unmatched(operation);
}

async function writeAndRecheck(
  operation: MutableOperation,
  where: Where,
  changed: readonly string[],
  seen: Observation,
  write: (where: Where) => Promise<boolean>,
): Promise<boolean> {
  if (!changed.some((name) => seen.columns().has(name)) && !touches(operation, changed)) return write(where);
  let written = false;
  await inTransaction(operation, async () => {
    written = await write(where);
    const row = operation.records[0];
    if (!written || row === undefined) return;
    if ((await satisfiesPredicate(operation)) || (await operation.decision.guard?.(row))) return;
    throw noLongerYours();
  });
  return written;
}

/** Whether a change may carry the row out of the rules' predicate. */
function touches(operation: MutableOperation, changed: readonly string[]): boolean {
  const { decision, entity, scope } = operation;
  return decision.predicate !== undefined && dependsOn(scope.model, entity, decision.predicate, changed);
}
