import { AuthorizationError } from "../errors/errors.ts";
import type { Where } from "../ports/driver.ts";
import { allOf, compileWhere } from "../where/condition.ts";
import { expectUnchanged } from "../where/expect-unchanged.ts";
import { matchesAlone } from "../where/matches.ts";
import { dependsOn } from "../where/members.ts";
import { observe } from "../where/observe.ts";
import { unmatched, wanted } from "../where/unmatched.ts";
import { whileUnchanged } from "../where/while-unchanged.ts";
import { deniedError, recordDenied } from "./denied.ts";
import { missingOrDenied, satisfiesPredicate } from "./execute-read.ts";
import { inTransaction } from "./in-transaction.ts";
import type { MutableOperation } from "./new-operation.ts";
import { writeSeveral } from "./write-several.ts";

/** A statement on the one record; whether it matched. */
type Write = (where: Where) => Promise<boolean>;

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
 * @param matters whether the write can have changed what the rules say @default whether they have a predicate
 */
export async function recheck(
  operation: MutableOperation,
  matters = operation.decision.predicate !== undefined,
): Promise<void> {
  const { decision, kind, records, scope } = operation;
  const row = records[0];
  if (!matters || row === undefined || (kind !== "create" && kind !== "update")) return;
  if ((await satisfiesPredicate(operation)) || (await decision.guard?.(row)) === true) return;
  if (kind === "create") throw deniedError(operation, scope.runtime.production);
  throw noLongerYours();
}

function noLongerYours(): Error {
  return new AuthorizationError("The record would no longer be yours to change");
}

/** Changes one record in a statement that carries the rule; afterwards the row must still satisfy the rule. */
export async function runUpdate(operation: MutableOperation): Promise<void> {
  if (operation.ids !== undefined) return writeSeveral(operation, operation.ids);
  const { entity, data, scope, decision } = operation;
  const changed = Object.keys(data);
  // Links alone change the record too: the statement carries the rule and locks the row until they are stored. What is
  // said of a version does not matter: the driver counts.
  const isWrite = changed.length > 0 || operation.transactional;
  if (isWrite && entity.timestamps) data.updatedAt ??= scope.runtime.clock.now();
  else if (isWrite && changed.length === 0)
    Object.assign(data, entity.versioned === undefined ? { id: operation.id } : { version: 1 });
  if (decision.guard !== undefined)
    return guardedWrite(operation, changed, (where) => writeUpdate(operation, where, !isWrite));
  const where = wanted(operation, decision.predicate);
  if (touches(operation, changed)) {
    return inTransaction(operation, async () => {
      await refuseLeaving(operation, where);
      if (!(await writeUpdate(operation, where, false))) throw await unmatched(operation);
      await recheck(operation);
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

function writeUpdate(operation: MutableOperation, where: Where, nothingToChange: boolean): Promise<boolean> {
  return whileUnchanged(operation, where, async () => {
    const { entity, data, scope } = operation;
    const row = nothingToChange
      ? await scope.store.findOne(entity, where)
      : await scope.store.update(entity, where, data);
    operation.records = row === null ? [] : [row];
    return row !== null;
  });
}

/** Deletes one record in a statement that carries the rule. */
export async function runDelete(operation: MutableOperation): Promise<void> {
  if (operation.ids !== undefined) return writeSeveral(operation, operation.ids);
  const { entity, decision } = operation;
  const remove: Write = (where) => whileUnchanged(operation, where, () => operation.scope.store.delete(entity, where));
  if (decision.guard !== undefined) return guardedWrite(operation, [], remove);
  if (!(await remove(wanted(operation, decision.predicate)))) throw await unmatched(operation);
}

/**
 * A write whose rules have to see the record: load, decide, and write only if what the rules saw is still so.
 * @throws RecordChangedError when it is not
 */
async function guardedWrite(operation: MutableOperation, changed: readonly string[], write: Write): Promise<void> {
  const { entity, id, decision, scope, existsWhere } = operation;
  const row = await scope.store.findOne(entity, allOf({ id }, existsWhere));
  if (row === null) throw await missingOrDenied(operation);
  const seen = observe(entity, row);
  const byPredicate = await satisfiesPredicate(operation);
  if (!byPredicate && !(await decision.guard?.(seen.record))) throw recordDenied(operation);
  if (!byPredicate) expectUnchanged(operation, seen);
  const where = wanted(operation, byPredicate ? decision.predicate : undefined);
  const writeAndRecheck = async (): Promise<boolean> => {
    const isWritten = await write(where);
    if (isWritten) await recheck(operation, true);
    return isWritten;
  };
  const matters = changed.some((name) => seen.columns().has(name)) || touches(operation, changed);
  const isWritten = matters ? await inTransaction(operation, writeAndRecheck) : await write(where);
  if (!isWritten) throw await unmatched(operation);
}

/** Whether a change may carry the row out of the rules' predicate. */
function touches({ decision, entity, scope }: MutableOperation, changed: readonly string[]): boolean {
  return dependsOn(scope.model, entity, decision.predicate, changed);
}
