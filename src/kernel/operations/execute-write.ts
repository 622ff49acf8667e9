import { AuthorizationError, ConflictError, EntityNotFoundError } from "../errors/errors.ts";
import type { Row, Where } from "../ports/driver.ts";
import { allOf, columnsOfWhere } from "../where/condition.ts";
import { deniedError } from "./denied.ts";
import { missingOrDenied, optional, satisfiesPredicate } from "./execute-read.ts";
import { inTransaction } from "./in-transaction.ts";
import type { MutableOperation } from "./new-operation.ts";
import { type Observation, observe } from "./observe.ts";

/** A record that changes under a rule's eyes again and again is given up on. */
const ATTEMPTS = 3;

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
    operation.records = [await operation.scope.driver.create(entity, data)];
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
      (await operation.scope.driver.findOne(entity, where, { select: ["id"] })) !== null ||
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
  const where = optional({ id: operation.id }, decision.predicate, operation.extraWhere) as Where;
  if (touches(operation, changed)) {
    return inTransaction(operation, async () => {
      if (!(await writeUpdate(operation, where, false))) throw await missingOrDenied(operation);
      if (!(await satisfiesPredicate(operation)))
        throw new AuthorizationError("The record would no longer be yours to change");
    });
  }
  if (!(await writeUpdate(operation, where, changed.length === 0))) throw await missingOrDenied(operation);
}

async function writeUpdate(operation: MutableOperation, where: Where, nothingToChange: boolean): Promise<boolean> {
  const { driver } = operation.scope;
  const { entity, data } = operation;
  const row = nothingToChange ? await driver.findOne(entity, where) : await driver.update(entity, where, data);
  operation.records = row === null ? [] : [row];
  return row !== null;
}

/** Deletes one record in a statement that carries the rule. */
export async function runDelete(operation: MutableOperation): Promise<void> {
  const { entity, decision } = operation;
  const remove = (where: Where): Promise<boolean> => operation.scope.driver.delete(entity, where);
  if (decision.guard !== undefined) return guardedWrite(operation, [], remove);
  const where = optional({ id: operation.id }, decision.predicate, operation.extraWhere) as Where;
  if (!(await remove(where))) throw await missingOrDenied(operation);
}

/**
 * A write whose rules have to see the record: load, decide, and write only if what the rules saw is still so. A record
 * that changed meanwhile is looked at again.
 */
async function guardedWrite(
  operation: MutableOperation,
  changed: readonly string[],
  write: (where: Where) => Promise<boolean>,
): Promise<void> {
  const { entity, id, decision, scope } = operation;
  const { production } = scope.runtime;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const row = await operation.scope.driver.findOne(entity, { id });
    if (row === null) throw new EntityNotFoundError();
    const seen = observe(entity, row);
    const byPredicate = await satisfiesPredicate(operation);
    if (!byPredicate && !(await decision.guard?.(seen.record))) throw deniedError(operation, production);
    const where = optional({ id }, byPredicate ? decision.predicate : seen.conditions(), operation.extraWhere) as Where;
    if (await writeAndRecheck(operation, where, changed, seen, write)) return;
    if (operation.extraWhere !== undefined) throw await missingOrDenied(operation);
  }
  throw new ConflictError("The record is being changed by others; try again");
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
  if (decision.predicate === undefined || changed.length === 0) return false;
  const columns = columnsOfWhere(scope.model, entity, decision.predicate);
  return changed.some((name) => columns.has(name));
}
