import type { AnyEntity } from "../../entity/index.ts";
import { AuthorizationError, NotStoredError, RecordChangedError } from "../../kernel/index.ts";
import { allOf, compileWhere } from "../condition/compile-where.ts";
import { ALWAYS, type Condition, dependsOn, looksAt, NEVER, type Row, type Where } from "../condition/condition.ts";
import {
  conditionUpTo,
  inTransaction,
  isRequired,
  type MutableOperation,
  ONE_BY_ONE,
} from "../operation/new-operation.ts";
import type { Decision, Operation } from "../operation/operation.ts";
import { idOfParts } from "../record/tag-record.ts";
import { askedOfStored, meetsChanged, storedMeet, withoutRecord } from "../requirement/new-record.ts";
import { expectUnchanged, isWhere, meets, observe } from "../requirement/passes.ts";
import { deniedError, missingOrDenied, recordDenied, unmatched } from "../requirement/unmatched.ts";
import { lockShared, sharedPaths, whileUnchanged } from "../requirement/while-unchanged.ts";
import type { Driver } from "../statement/driver-port.ts";
import { changedColumns, mayWaitForOthers } from "./changed-columns.ts";

/** A statement on the one record; whether it matched. */
type Write = (where: Condition, before?: typeof refuseLeaving) => Promise<boolean>;

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
  if (operation.heldListeners.length > 0) {
    // A caller who may not create the record learns nothing about the write's other requirements.
    if (where !== undefined) await refuseUnmet(operation, where, scope.store);
    for (const listener of operation.heldListeners) await listener(data);
  }
  operation.records = [where === undefined ? await store(operation) : await createWhere(operation, where)];
}

/** Stores a new record: at once, or with others where nothing but its id is used. */
async function store({ entity, data, scope, idOnly }: MutableOperation): Promise<Row> {
  if (!idOnly || data.id === undefined) return scope.store.create(entity, data);
  await scope.store.execute({ kind: "insert", entity, rows: [data], later: true });
  return { ...data };
}

/**
 * What the rules require of a new record and of the database without it; undefined where the record alone shows that
 * they pass.
 * @throws AuthenticationError, AuthorizationError where it shows that they do not
 */
async function conditionOfCreate(operation: MutableOperation): Promise<Condition | undefined> {
  const { entity, decision, scope, data, requirements } = operation;
  const { predicate, guard } = decision;
  const compiled = (where: Where): Condition => compileWhere(scope.app.model, entity, where);
  let rule = predicate;
  if (guard !== undefined && (predicate === undefined || askedOfStored(compiled(predicate), data) !== ALWAYS)) {
    const answer = await guard(data);
    if (isWhere(answer)) rule = predicate === undefined ? answer : { OR: [predicate, answer] };
    else if (answer === true) rule = undefined;
    else if (predicate === undefined) throw deniedError(operation, scope.runtime.production);
  }
  const where = compiled(allOf(rule, conditionUpTo(requirements, "changed")));
  const left = askedOfStored(where, data);
  if (left === NEVER) throw deniedError(operation, scope.runtime.production);
  return left === ALWAYS ? undefined : where;
}

/**
 * Stores a new record where a condition holds without it: in the statement, or checked before it where the driver
 * cannot. Where transactions run concurrently, the statement may have waited for others, that store the same unique value or
 * hold a record that this one refers to, and has seen the database as it was before: the condition is then asked once more.
 */
async function createWhere(operation: MutableOperation, where: Condition): Promise<Row> {
  const { entity, data, scope } = operation;
  const { concurrentTransactions, conditionalInserts } = scope.store.capabilities;
  try {
    if (!concurrentTransactions && conditionalInserts === true)
      return await scope.store.create(entity, data, { where });
    return await scope.store.transaction(async (store) => {
      const paths = concurrentTransactions ? sharedPaths(where, entity) : [];
      if (paths.length > 0) await (await lockShared(store, paths, [data]))([data]);
      if (conditionalInserts !== true) await refuseUnmet(operation, where, store);
      const row = await store.create(entity, data, conditionalInserts === true ? { where } : undefined);
      if (concurrentTransactions) await refuseUnmet(operation, withoutRecord(where, entity, row.id), store);
      return row;
    });
  } catch (error) {
    throw error instanceof NotStoredError ? deniedError(operation, scope.runtime.production) : error;
  }
}

/**
 * Asks the rules about a new record once more, without it, because storing its pairs, or what is written along, may have waited for
 * other transactions. Updates are decided again by `recheck`.
 * @param written entities of records that were written along: what they may have changed is no reason to refuse
 * @throws AuthenticationError, AuthorizationError
 */
export async function decideCreateAgain(operation: Operation, written: Iterable<AnyEntity> = []): Promise<void> {
  const { entity, records, scope } = operation as MutableOperation;
  const where = await conditionOfCreate(operation as MutableOperation);
  if (where === undefined || [...written].some((one) => looksAt(where, one))) return;
  await refuseUnmet(operation as MutableOperation, withoutRecord(where, entity, records[0]?.id), scope.store);
}

/** @throws AuthenticationError, AuthorizationError where the database without the new record does not meet the rules */
async function refuseUnmet(operation: MutableOperation, where: Condition, store: Driver): Promise<void> {
  const { scope, data } = operation;
  const left = askedOfStored(where, data);
  if (!(await storedMeet(store, left, data))) throw deniedError(operation, scope.runtime.production);
}

/**
 * After an update and its links: the record must still be one the caller may write, or everything rolls back. Checked
 * in the database.
 * @param matters whether the write can have changed what the rules decide @default whether they look at the record
 */
export async function recheck(
  operation: MutableOperation,
  matters = operation.decision.predicate !== undefined || operation.decision.guard !== undefined,
): Promise<void> {
  const { decision, entity, kind, records, scope } = operation;
  const row = records[0];
  if (!matters || row === undefined || kind !== "update") return;
  const meetsStill = async (where: Where): Promise<boolean> =>
    (await scope.store.findOne(entity, allOf({ id: row.id }, where), { select: ["id"] })) !== null;
  await refuseUnlessMet(decision, observe(entity, row).record, meetsStill);
}

/** @throws AuthorizationError where neither the condition nor the guard of a decision lets a changed record through */
async function refuseUnlessMet(
  { predicate, guard }: Decision,
  record: Row,
  meetsStill: (where: Where) => Promise<boolean>,
): Promise<void> {
  if (predicate !== undefined && (await meetsStill(predicate))) return;
  const answer = await guard?.(record);
  if (isWhere(answer) ? await meetsStill(answer) : answer === true) return;
  throw new AuthorizationError("The record would no longer be yours to change");
}

/** Changes one record in a statement that carries the rule; afterwards the row must still satisfy the rule. */
export async function runUpdate(operation: MutableOperation): Promise<void> {
  if (operation.ids !== undefined) return writeSeveral(operation, operation.ids);
  const { entity, data, scope, decision } = operation;
  const changed = changedColumns(entity, data);
  // Links alone change the record too: the statement carries the rule and locks the row until they are stored. A
  // version in the data is ignored: the driver counts.
  const isWrite = changed.length > 0 || operation.transactional;
  if (isWrite && entity.timestamps) data.updatedAt ??= scope.runtime.clock.now();
  else if (isWrite && changed.length === 0 && entity.versioned !== undefined) data.version = 1;
  if (decision.guard !== undefined)
    return guardedWrite(operation, changed, (where, before) => writeUpdate(operation, where, before));
  const rule = compileWhere(scope.app.model, entity, decision.predicate);
  const where = wanted(operation, rule);
  const mayLeave = dependsOn(entity, rule, changed);
  if (mayLeave || mayWait(operation, rule)) {
    return inTransaction(operation, async () => {
      if (!(await writeUpdate(operation, where, mayLeave ? refuseLeaving : undefined)))
        throw await unmatched(operation);
      await recheck(operation);
    });
  }
  if (!(await writeUpdate(operation, where))) throw await unmatched(operation);
}

/** The record as the statement of a write must find it. */
function wanted({ entity, id, requirements, scope }: MutableOperation, rule: Condition): Condition {
  return compileWhere(scope.app.model, entity, allOf({ id }, rule, conditionUpTo(requirements, "changed")));
}

/**
 * Before an update that may move the record out of the rules' reach: with its new values it must pass in the database
 * without them, so that it cannot vouch for itself, and so that a unique conflict reveals nothing about records out of
 * reach.
 */
async function refuseLeaving(operation: MutableOperation, where: Condition, held: Row | undefined): Promise<void> {
  const { entity, scope, decision, data } = operation;
  const row = held ?? (await scope.store.findOne(entity, where));
  if (row === null) return;
  const changed = { ...row, ...data };
  const meetsStill = (rule: Where): Promise<boolean> =>
    meetsChanged(scope.store, compileWhere(scope.app.model, entity, rule), changed);
  await refuseUnlessMet(decision, observe(entity, changed).record, meetsStill);
}

function writeUpdate(operation: MutableOperation, where: Condition, before?: typeof refuseLeaving): Promise<boolean> {
  return whileUnchanged(operation, where, async (held) => {
    const { entity, data, scope } = operation;
    if (before !== undefined) await before(operation, where, held);
    const row =
      Object.keys(data).length === 0
        ? await scope.store.findOne(entity, where, { lock: operation.transactional })
        : await scope.store.update(entity, where, data);
    operation.records = row === null ? [] : [row];
    if (row !== null && held !== undefined) await refuseOvertaken(operation, where, held);
    return row !== null;
  });
}

/**
 * Where the statement of an update may have waited for other transactions, what its condition says about other records is asked once
 * more, of the record as it was locked. What the update itself has brought about is no reason to refuse it, unless the
 * record would be out of the rules' reach.
 * @throws RecordChangedError, AuthorizationError
 */
async function refuseOvertaken(operation: MutableOperation, where: Condition, held: Row): Promise<void> {
  const { entity, scope } = operation;
  if (!looksAt(where) || !mayWaitForOthers(operation)) return;
  for (const condition of [where, withoutRecord(where, entity, held.id)])
    if (await meetsChanged(scope.store, condition, held)) return;
  if (looksAt(where, entity)) await recheck(operation);
  throw new RecordChangedError();
}

/** Deletes one record in a statement that carries the rule. */
export async function runDelete(operation: MutableOperation): Promise<void> {
  if (operation.ids !== undefined) return writeSeveral(operation, operation.ids);
  const { entity, decision } = operation;
  const remove: Write = (where) => whileUnchanged(operation, where, () => operation.scope.store.delete(entity, where));
  if (decision.guard !== undefined) return guardedWrite(operation, [], remove);
  const rule = compileWhere(operation.scope.app.model, entity, decision.predicate);
  if (!(await remove(wanted(operation, rule)))) throw await unmatched(operation);
}

/**
 * A write whose rules have to see the record: load, decide, and write only if what the rules saw still holds.
 * @throws RecordChangedError when it is not
 */
async function guardedWrite(operation: MutableOperation, changed: readonly string[], write: Write): Promise<void> {
  const { entity, id, decision, scope, requirements } = operation;
  const { app, store: driver } = scope;
  const row = await driver.findOne(entity, allOf({ id }, conditionUpTo(requirements, "missing")));
  if (row === null) throw await missingOrDenied(operation);
  const seen = observe(entity, row);
  let passing = decision.predicate;
  if (passing === undefined || !(await meets({ app, driver }, entity, passing, row))) {
    const answer = await decision.guard?.(seen.record);
    passing = isWhere(answer) ? answer : undefined;
    const isAllowed = passing === undefined ? answer === true : await meets({ app, driver }, entity, passing, row);
    if (!isAllowed) throw decision.missing ? await missingOrDenied(operation) : recordDenied(operation);
    expectUnchanged(operation, seen);
  }
  const rule = compileWhere(app.model, entity, passing);
  const where = wanted(operation, rule);
  const writeAndRecheck = async (): Promise<boolean> => {
    const isWritten = await write(where, refuseLeaving);
    if (isWritten) await recheck(operation, true);
    return isWritten;
  };
  const matters =
    changed.some((name) => seen.columns().has(name)) || dependsOn(entity, rule, changed) || mayWait(operation, rule);
  const isWritten = matters ? await inTransaction(operation, writeAndRecheck) : await write(where);
  if (!isWritten) throw await unmatched(operation);
}

/** Whether the rules are asked again after an update, since its statement may have waited. */
function mayWait(operation: MutableOperation, rule: Condition): boolean {
  return mayWaitForOthers(operation) && (operation.decision.guard !== undefined || looksAt(rule));
}

/**
 * Changes or deletes several records in one statement that carries the rule, where that gives the same result as one
 * after the other. Throws `ONE_BY_ONE` where a rule, a hook or a requirement has to look at each record, or where a
 * condition may depend on records that were changed before.
 */
async function writeSeveral(operation: MutableOperation, ids: readonly string[]): Promise<void> {
  const { entity, kind, scope, data, decision, requirements } = operation;
  const changed = changedColumns(entity, data);
  const rule = compileWhere(scope.app.model, entity, decision.predicate);
  if (needsEach(operation) || dependsOn(entity, rule, changed)) throw ONE_BY_ONE;
  const conditions = compileWhere(scope.app.model, entity, allOf(rule, conditionUpTo(requirements, "leave")));
  // Deleting changes records that refer to the deleted ones, too. Conditions on related records are checked again for
  // each record once it is locked, where others write concurrently; see `whileUnchanged`.
  const isAny = kind === "delete" || scope.store.capabilities.concurrentTransactions;
  if (looksAt(conditions, isAny ? undefined : entity)) throw ONE_BY_ONE;
  const where = allOf({ id: { in: ids } }, conditions);
  if (kind === "delete") {
    operation.total = await scope.store.deleteMany(entity, where);
  } else {
    // Nothing is left to change when the caller may write nothing of it.
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
