import { NotStoredError } from "../../kernel/index.ts";
import { allOf, compileWhere } from "../condition/compile-where.ts";
import { ALWAYS, type Condition, NEVER, type Row, type Where } from "../condition/condition.ts";
import type { FurtherWrite } from "../operation/further-write.ts";
import { conditionUpTo, type MutableOperation } from "../operation/new-operation.ts";
import { allowsOf } from "../operation/policy.ts";
import { idOfParts } from "../record/tag-record.ts";
import { asBeforeWrites, askedOfStored, guardOfNew, storedMeet } from "../requirement/new-record.ts";
import { isWhere } from "../requirement/passes.ts";
import { deniedError } from "../requirement/unmatched.ts";
import { lockShared, sharedPaths } from "../requirement/while-unchanged.ts";
import type { Driver } from "../statement/driver-port.ts";

/** Stores a new record with a generated id and timestamps. */
export async function runCreate(operation: MutableOperation): Promise<void> {
  const { entity, decision, scope, data } = operation;
  const { clock, ids } = scope.runtime;
  if (entity.idsFrom === "keelson") data.id ??= ids.next();
  else if (entity.idsFrom === "parts") data.id = idOfParts(entity, data);
  if (entity.timestamps) {
    const now = clock.now();
    data.createdAt ??= now;
    data.updatedAt ??= now;
  }
  const { predicate, guard } = decision;
  const isDecided = predicate === undefined && guard === undefined && operation.requirements.length === 0;
  const where = isDecided ? undefined : await conditionOfCreate(operation);
  operation.condition = where;
  if (operation.heldListeners.length > 0) {
    // Checked first, so that a caller who may not create the record learns nothing about the write's other
    // requirements.
    if (where !== undefined) await refuseUnmet(operation, where, scope.store);
    for (const listener of operation.heldListeners) await listener(data);
  }
  operation.records = [where === undefined ? await store(operation) : await createWhere(operation, where)];
}

/** Stores a new record: immediately, or together with others if only its id is used. */
async function store(operation: MutableOperation): Promise<Row> {
  const { entity, data, scope, idOnly, writtenListeners, againListeners } = operation;
  const insert = { kind: "insert", entity, rows: [data] } as const;
  if (idOnly && data.id !== undefined) {
    await scope.store.execute({ ...insert, later: true });
    return { ...data };
  }
  if (writtenListeners.length + againListeners.length === 0) return scope.store.create(entity, data);
  return (await scope.store.execute({ ...insert, returning: true, checked: true })).rows[0] as Row;
}

/**
 * The condition that the rules set for a new record and the database without it; undefined when the record alone
 * passes.
 * @throws AuthenticationError, AuthorizationError when the record alone does not pass
 */
async function conditionOfCreate(operation: MutableOperation): Promise<Condition | undefined> {
  const { entity, decision, scope, data, requirements } = operation;
  const { predicate, guard } = decision;
  const compiled = (where: Where): Condition => compileWhere(scope.app.model, entity, where);
  let rule = predicate;
  if (guard !== undefined && (predicate === undefined || askedOfStored(compiled(predicate), data) !== ALWAYS)) {
    const answer = await allowsOf({ predicate, guard: guardOfNew(entity, data, guard) }, data);
    if (answer === false) throw deniedError(operation, scope.runtime.production);
    rule = isWhere(answer) ? answer : undefined;
  }
  const where = compiled(allOf(rule, conditionUpTo(requirements, "changed")));
  const left = askedOfStored(where, data);
  if (left === NEVER) throw deniedError(operation, scope.runtime.production);
  return left === ALWAYS ? undefined : where;
}

/**
 * Stores a new record if a condition holds without it: in the statement, or checked before it if the driver does not
 * support that. Where transactions run concurrently, the statement may have waited for others (same unique value,
 * referenced record) and seen an earlier state; the condition is then checked again.
 */
async function createWhere(operation: MutableOperation, where: Condition): Promise<Row> {
  const { entity, data, scope } = operation;
  const { concurrentTransactions, conditionalInserts } = scope.store.capabilities;
  try {
    if (!concurrentTransactions && conditionalInserts === true)
      return await scope.store.create(entity, data, { where });
    return await scope.store.transaction(async (store) => {
      const paths = concurrentTransactions ? sharedPaths(where, entity) : [];
      if (paths.length > 0) {
        await refuseUnmet(operation, where, store); // a refused create locks nothing
        await (await lockShared(store, paths, [data]))([data]);
      }
      if (conditionalInserts !== true) await refuseUnmet(operation, where, store);
      const row = await store.create(entity, data, conditionalInserts === true ? { where } : undefined);
      if (concurrentTransactions) {
        const without = await asBeforeWrites(store, where, [{ entity, id: row.id, before: null }]);
        await refuseUnmet(operation, without, store);
      }
      return row;
    });
  } catch (error) {
    throw error instanceof NotStoredError ? deniedError(operation, scope.runtime.production) : error;
  }
}

/**
 * Decides again on a new record.
 * @param writes the writes that do not count, the record's own first
 * @throws AuthenticationError, AuthorizationError
 */
export async function decideCreateAgain(operation: MutableOperation, writes: readonly FurtherWrite[]): Promise<void> {
  const { condition, scope } = operation;
  if (condition === undefined) return;
  await refuseUnmet(operation, await asBeforeWrites(scope.store, condition, writes), scope.store);
}

/** @throws AuthenticationError, AuthorizationError when the database without the new record does not meet the rules */
async function refuseUnmet(operation: MutableOperation, where: Condition, store: Driver): Promise<void> {
  const { scope, data } = operation;
  const left = askedOfStored(where, data);
  if (!(await storedMeet(store, left, data))) throw deniedError(operation, scope.runtime.production);
}
