import { AuthorizationError, ConflictError, EntityNotFoundError } from "../errors/errors.ts";
import type { Row, Where } from "../ports/driver.ts";
import { allOf } from "../where/condition.ts";
import { dependsOn } from "../where/members.ts";
import { type Observation, observe } from "../where/observe.ts";
import { deniedError } from "./denied.ts";
import { missingOrDenied, satisfiesPredicate } from "./execute-read.ts";
import { inTransaction } from "./in-transaction.ts";
import type { MutableOperation } from "./new-operation.ts";

/** The record is no longer as a rule or a validator saw it. The gate looks again, and gives up after a few times. */
export class RecordChangedError extends ConflictError {
  constructor() {
    super("The record is being changed by others; try again");
  }
}

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
  // A predicate may look at related records, so the database itself is asked, before anything is committed.
  await inTransaction(operation, async () => {
    await store();
    const row = operation.records[0] as Row;
    const where = allOf({ id: row.id }, decision.predicate);
    const allowed =
      (await operation.scope.store.findOne(entity, where, { select: ["id"] })) !== null ||
      (await decision.guard?.(data)) === true;
    if (!allowed) throw deniedError(operation, production);
  });
}

/** Changes one record in a statement that carries the rule; afterwards the row must still satisfy the rule. */
export async function runUpdate(operation: MutableOperation): Promise<void> {
  const { entity, data, scope, decision } = operation;
  const changed = Object.keys(data);
  if (changed.length > 0 && entity.timestamps) data.updatedAt ??= scope.runtime.clock.now();
  if (decision.guard !== undefined)
    return guardedWrite(operation, changed, (where) => writeUpdate(operation, where, changed.length === 0));
  const where = allOf({ id: operation.id }, decision.predicate, operation.extraWhere, operation.expected);
  if (touches(operation, changed)) {
    return inTransaction(operation, async () => {
      if (!(await writeUpdate(operation, where, false))) throw await unmatched(operation);
      if (!(await satisfiesPredicate(operation)))
        throw new AuthorizationError("The record would no longer be yours to change");
    });
  }
  if (!(await writeUpdate(operation, where, changed.length === 0))) throw await unmatched(operation);
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
    throw new AuthorizationError("The record would no longer be yours to change");
  });
  return written;
}

/** Whether a change may carry the row out of the rules' predicate. */
function touches(operation: MutableOperation, changed: readonly string[]): boolean {
  const { decision, entity, scope } = operation;
  return decision.predicate !== undefined && dependsOn(scope.model, entity, decision.predicate, changed);
}
