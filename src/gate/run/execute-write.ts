import { AuthorizationError, RecordChangedError } from "../../kernel/index.ts";
import { allOf, compileWhere } from "../condition/compile-where.ts";
import { type Condition, dependsOn, looksAt, type Row, visitCondition, type Where } from "../condition/condition.ts";
import type { FurtherWrite } from "../operation/further-write.ts";
import {
  conditionUpTo,
  inTransaction,
  isRequired,
  type MutableOperation,
  ONE_BY_ONE,
} from "../operation/new-operation.ts";
import type { Decision } from "../operation/operation.ts";
import { allowsOf } from "../operation/policy.ts";
import { asBeforeWrites, meetsChanged, writesById } from "../requirement/new-record.ts";
import { expectUnchanged, isWhere, meets, observe } from "../requirement/passes.ts";
import { missingOrDenied, recordDenied, unmatched } from "../requirement/unmatched.ts";
import { lockShared, sharedPaths, whileUnchanged } from "../requirement/while-unchanged.ts";
import { changedColumns, changesComputed, mayCompute, mayWaitForOthers } from "./changed-columns.ts";

/** Runs a statement on one record; returns whether it matched. */
type Write = (where: Condition, before?: typeof refuseLeaving) => Promise<boolean>;

/**
 * Checks in the database, after an update and its links, that the caller may still write the record; otherwise
 * everything rolls back.
 */
export async function recheck({ decision, entity, kind, records, scope }: MutableOperation): Promise<void> {
  const row = records[0];
  if (row === undefined || kind !== "update") return;
  const meetsStill = async (where: Where): Promise<boolean> =>
    (await scope.store.findOne(entity, allOf({ id: row.id }, where), { select: ["id"] })) !== null;
  await refuseUnlessMet(decision, observe(entity, row).record, meetsStill);
}

/**
 * @returns the condition by which a decision allows the changed record; undefined if it needs none
 * @throws AuthorizationError when a decision depends on the record, and neither its condition nor its guard allows the
 * changed record
 */
async function refuseUnlessMet(
  { predicate, guard }: Decision,
  record: Row,
  meetsStill: (where: Where) => Promise<boolean>,
): Promise<Where | undefined> {
  if (predicate === undefined && guard === undefined) return undefined;
  if (predicate !== undefined && (await meetsStill(predicate))) return predicate;
  const answer = guard && (await allowsOf({ predicate, guard }, record));
  if (isWhere(answer) ? await meetsStill(answer) : answer === true) return isWhere(answer) ? answer : undefined;
  throw noLongerAllowed();
}

const noLongerAllowed = (): AuthorizationError =>
  new AuthorizationError("The record would no longer be yours to change");

/** Updates one record with a statement that includes the rules' condition; the changed record must still meet it. */
export async function runUpdate(operation: MutableOperation): Promise<void> {
  if (operation.ids !== undefined) return writeSeveral(operation, operation.ids);
  const { entity, data, scope, decision } = operation;
  const changed = changedColumns(entity, data);
  // Links alone change the record, too: the statement includes the rules' condition and locks the row until they are
  // stored. A version in the data is ignored: the driver increments it.
  const isWrite = changed.length > 0 || operation.transactional;
  if (isWrite && entity.timestamps) data.updatedAt ??= scope.runtime.clock.now();
  else if (isWrite && changed.length === 0 && entity.versioned !== undefined) data.version = 1;
  if (decision.guard !== undefined)
    return guardedWrite(operation, changed, (where, before) => writeUpdate(operation, where, before));
  const rule = compileWhere(scope.app.model, entity, decision.predicate);
  const where = statementCondition(operation, rule);
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

/** The condition of a write's statement: the id, the rules' condition and the requirements. */
function statementCondition({ entity, id, requirements, scope }: MutableOperation, rule: Condition): Condition {
  return compileWhere(scope.app.model, entity, allOf({ id }, rule, conditionUpTo(requirements, "changed")));
}

/**
 * Runs before an update after which the record may no longer meet the rules. With its new values it must pass in the
 * database as it is before the write, so that it cannot vouch for itself and a unique conflict reveals nothing about
 * other records.
 * @returns the record before the write; null if the statement will match none
 */
async function refuseLeaving(
  operation: MutableOperation,
  where: Condition,
  held: Row | undefined,
): Promise<Row | null> {
  const { entity, scope, decision, data } = operation;
  const row = held ?? (await scope.store.findOne(entity, where));
  if (row === null) return null;
  const changed = { ...row, ...data };
  const seen = observe(entity, changed);
  const unmet: Condition[] = [];
  const isConcurrent = scope.store.capabilities.concurrentTransactions;
  const meetsStill = async (rule: Where): Promise<boolean> => {
    const where = compileWhere(scope.app.model, entity, rule);
    if (decision.guard !== undefined && isConcurrent)
      await lockShared(scope.store, sharedPaths(where, entity), [changed]);
    const isMet = await meetsChanged(scope.store, where, changed);
    if (!isMet) unmet.push(where);
    return isMet;
  };
  try {
    const passing = await refuseUnlessMet(decision, seen.record, meetsStill);
    operation.left = passing && compileWhere(scope.app.model, entity, passing);
  } catch (error) {
    // Computed values still belong to the record before the change; a decision on them follows after the write.
    const isOutdated = changesComputed(entity, data, new Set([...unmet.flatMap(columnsIn), ...seen.columns()]));
    if (!(error instanceof AuthorizationError && isOutdated)) throw error;
  }
  return row;
}

function columnsIn(condition: Condition): string[] {
  const names: string[] = [];
  visitCondition(condition, (leaf) => {
    if (leaf.op === "compare") names.push(leaf.column.name);
  });
  return names;
}

/** Decides on a changed record once its computed values are known, as if it had not been changed. */
async function refuseSelfMade(operation: MutableOperation, row: Row, before: Row): Promise<void> {
  const { entity, scope, decision } = operation;
  const meetsStill = async (rule: Where): Promise<boolean> => {
    const where = compileWhere(scope.app.model, entity, rule);
    return meetsChanged(
      scope.store,
      await asBeforeWrites(scope.store, where, [{ entity, id: before.id, before }]),
      row,
    );
  };
  const passing = await refuseUnlessMet(decision, observe(entity, row).record, meetsStill);
  operation.left = passing && compileWhere(scope.app.model, entity, passing);
}

/**
 * Decides again on an updated record, before and after the change.
 * @param writes the writes that do not count
 * @throws RecordChangedError, AuthorizationError
 */
export async function decideUpdateAgain(operation: MutableOperation, writes: readonly FurtherWrite[]): Promise<void> {
  const { held, condition } = operation;
  if (condition !== undefined && held !== undefined && !(await meetsBefore(operation, condition, held, writes)))
    throw new RecordChangedError();
  await refuseLeft(operation, writes);
}

/** @throws AuthorizationError if the changed record no longer meets what allowed it, as if writes had not been made */
async function refuseLeft(operation: MutableOperation, writes: readonly FurtherWrite[]): Promise<void> {
  const { left, records } = operation;
  const [row] = records;
  if (left === undefined || row === undefined || !looksAt(left)) return;
  if (!(await meetsBefore(operation, left, row, writes))) throw noLongerAllowed();
}

async function meetsBefore(
  { entity, scope }: MutableOperation,
  condition: Condition,
  row: Row,
  writes: readonly FurtherWrite[],
): Promise<boolean> {
  const { pairs } = writesById(entity, writes).get(row.id) ?? {};
  return meetsChanged(scope.store, await asBeforeWrites(scope.store, condition, writes), row, pairs);
}

function writeUpdate(operation: MutableOperation, where: Condition, before?: typeof refuseLeaving): Promise<boolean> {
  const write = async (held: Row | undefined): Promise<boolean> => {
    const { entity, data, scope } = operation;
    operation.condition = looksAt(where) ? where : undefined;
    operation.left = undefined;
    const earlier = (await before?.(operation, where, held)) ?? null;
    const row =
      Object.keys(data).length === 0
        ? await scope.store.findOne(entity, where, { lock: operation.transactional })
        : await scope.store.update(entity, where, data);
    operation.records = row === null ? [] : [row];
    // Computed values were not known before the write.
    if (row !== null && earlier !== null && mayCompute(entity, data)) await refuseSelfMade(operation, row, earlier);
    if (row !== null && held !== undefined) await refuseOvertaken(operation, where, held);
    return row !== null;
  };
  return whileUnchanged(operation, where, write, before !== undefined && operation.decision.guard !== undefined);
}

/**
 * When the statement of an update may have waited for other transactions, its conditions on other records are checked
 * again for the locked record. The effects of the update itself do not count.
 * @throws RecordChangedError, AuthorizationError
 */
async function refuseOvertaken(operation: MutableOperation, where: Condition, held: Row): Promise<void> {
  const { entity } = operation;
  if (!mayWaitForOthers(operation)) return;
  const own = [{ entity, id: held.id, before: held }];
  if (looksAt(where) && !(await meetsBefore(operation, where, held, own))) {
    if (looksAt(where, entity)) await recheck(operation);
    throw new RecordChangedError();
  }
  await refuseLeft(operation, own);
}

/** Deletes one record with a statement that includes the rules' condition. */
export async function runDelete(operation: MutableOperation): Promise<void> {
  if (operation.ids !== undefined) return writeSeveral(operation, operation.ids);
  const { entity, decision } = operation;
  const remove: Write = (where) => whileUnchanged(operation, where, () => operation.scope.store.delete(entity, where));
  if (decision.guard !== undefined) return guardedWrite(operation, [], remove);
  const rule = compileWhere(operation.scope.app.model, entity, decision.predicate);
  if (!(await remove(statementCondition(operation, rule)))) throw await unmatched(operation);
}

/**
 * Runs a write whose rules need the record: loads it, decides, and writes only if the values that the rules saw are
 * unchanged.
 * @throws RecordChangedError when they have changed
 */
async function guardedWrite(operation: MutableOperation, changed: readonly string[], write: Write): Promise<void> {
  const { entity, id, decision, scope, requirements } = operation;
  const { app, store: driver } = scope;
  const row = await driver.findOne(entity, allOf({ id }, conditionUpTo(requirements, "missing")));
  if (row === null) throw await missingOrDenied(operation);
  const seen = observe(entity, row);
  let passing = decision.predicate;
  if (passing === undefined || !(await meets({ app, driver }, entity, passing, row))) {
    const answer = await allowsOf(decision, seen.record);
    passing = isWhere(answer) ? answer : undefined;
    const isAllowed = passing === undefined ? answer === true : await meets({ app, driver }, entity, passing, row);
    if (!isAllowed) throw decision.missing ? await missingOrDenied(operation) : recordDenied(operation);
    expectUnchanged(operation, seen);
  }
  const rule = compileWhere(app.model, entity, passing);
  const where = statementCondition(operation, rule);
  const writeAndRecheck = async (): Promise<boolean> => {
    const isWritten = await write(where, refuseLeaving);
    if (isWritten) await recheck(operation);
    return isWritten;
  };
  const matters =
    changed.some((name) => seen.columns().has(name)) || dependsOn(entity, rule, changed) || mayWait(operation, rule);
  const isWritten = matters ? await inTransaction(operation, writeAndRecheck) : await write(where);
  if (!isWritten) throw await unmatched(operation);
}

/** Whether the rules decide again after an update, since its statement may have waited. */
function mayWait(operation: MutableOperation, rule: Condition): boolean {
  return (operation.decision.guard !== undefined || looksAt(rule)) && mayWaitForOthers(operation);
}

/**
 * Changes or deletes several records with one statement that includes the rules' condition. Throws `ONE_BY_ONE` when a
 * rule, a hook or a requirement needs each record, or when a condition may depend on records that the operation
 * changes.
 */
async function writeSeveral(operation: MutableOperation, ids: readonly string[]): Promise<void> {
  const { entity, kind, scope, data, decision, requirements } = operation;
  const changed = changedColumns(entity, data);
  const rule = compileWhere(scope.app.model, entity, decision.predicate);
  if (needsEach(operation) || dependsOn(entity, rule, changed)) throw ONE_BY_ONE;
  const conditions = compileWhere(scope.app.model, entity, allOf(rule, conditionUpTo(requirements, "leave")));
  // A deletion also changes referring records. With concurrent transactions, conditions on related records are checked
  // again for each locked record; see `whileUnchanged`.
  const isAny = kind === "delete" || scope.store.capabilities.concurrentTransactions;
  if (looksAt(conditions, isAny ? undefined : entity)) throw ONE_BY_ONE;
  const where = allOf({ id: { in: ids } }, conditions);
  if (kind === "delete") {
    operation.total = await scope.store.deleteMany(entity, where);
  } else {
    // No columns are left when the caller may not write any of them.
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
