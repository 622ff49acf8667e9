import type { AnyEntity, ColumnDefinition, ResolvedRelation } from "../../entity/index.ts";
import { RecordChangedError } from "../../kernel/index.ts";
import { allOf } from "../condition/compile-where.ts";
import { type Condition, looksAt, type Row, visitCondition } from "../condition/condition.ts";
import type { LockedRecord } from "../operation/further-write.ts";
import { conditionUpTo, inTransaction, type MutableOperation, testsOf } from "../operation/new-operation.ts";
import type { Driver } from "../statement/driver-port.ts";
import { reasonsFor } from "./reasons.ts";

/**
 * Runs the statement that changes or deletes the record. The record is locked first when a decision relied on values
 * that a condition cannot compare, or when a listener keeps the old values, so that the statement finds the record as
 * it was read. It is also locked when the statement's condition uses related records and transactions run concurrently:
 * a statement that waits for the record would see the related records as they were before the wait. A deletion also
 * prevents records that refer to it from being stored, since it would wait for them. When the condition leads back to
 * the record's entity, the records on its path are locked first (`lockShared`).
 * @param where the condition of the statement
 * @param isDecided whether the write decides on other records before its statement
 * @param write runs the statement; it receives the record if it is locked
 * @returns whether the statement matched
 * @throws RecordChangedError
 */
export async function whileUnchanged(
  operation: MutableOperation,
  where: Condition,
  write: (held: Row | undefined) => Promise<boolean>,
  isDecided = false,
): Promise<boolean> {
  const { entity, id, kind, requirements, heldListeners, scope } = operation;
  const isUnchanged = testsOf(requirements);
  const isConcurrent = scope.store.capabilities.concurrentTransactions;
  const isHeld = isUnchanged !== undefined || heldListeners.length > 0;
  operation.held = undefined;
  if (!isHeld && !(isConcurrent && (isDecided || looksAt(where)))) return write(undefined);
  if (id !== undefined && id.length > scope.app.limits.idLength) return false; // no record has an id this long
  return inTransaction(operation, async () => {
    const { store } = operation.scope;
    const paths: SharedPath[] = isConcurrent ? sharedPaths(where, entity) : [];
    // The record before and after the change; each may lead to other records.
    const states = (row: Row): readonly Row[] => [row, { ...row, ...operation.data }];
    const lock = kind === "delete" ? "delete" : true;
    const isShared = isConcurrent && (paths.length > 0 || operation.lockFinders.length > 0);
    const rows = isShared ? await changeable(operation, where, paths) : [];
    if (isShared && rows.length === 0) return false;
    const own = rows.map((row) => ({ entity, id: row.id as string, lock }) as const);
    const others = isShared ? await othersOf(operation, own) : [];
    const also = paths.length + others.length > 0 ? [...own, ...others] : [];
    const assertShared = await lockShared(store, paths, rows.flatMap(states), also);
    const row = await store.findOne(entity, where, { lock });
    if (row === null) return false;
    await assertShared(states(row));
    if (isUnchanged?.(row) === false) throw new RecordChangedError();
    operation.held = row;
    for (const listener of heldListeners) await listener(row);
    return write(row);
  });
}

/** The lists of records whose locks have been taken. */
const lockedTogether = new WeakSet<readonly string[]>();

/**
 * The records that the transaction will change, of those that the caller may change: refused writes lock nothing.
 * @param paths receives those of their rules
 */
async function changeable(operation: MutableOperation, where: Condition, paths: SharedPath[]): Promise<Row[]> {
  const { among, decision, entity, requirements, scope } = operation;
  const { app, store } = scope;
  if (among === undefined || lockedTogether.has(among))
    return store.findMany(entity, { where, select: ["id", ...keysOf(paths)] });
  lockedTogether.add(among);
  const { kind } = entity.columns.id as ColumnDefinition;
  const ids = among.filter((id) => id.length <= app.limits.idLength && kind.accepts(id));
  const reasons = await reasonsFor({ app, driver: store }, entity, decision, ids);
  if (decision.guard !== undefined)
    for (const reason of new Set(reasons.values())) paths.push(...sharedPaths(reason, entity));
  const all = allOf({ id: { in: [...reasons.keys()] } }, conditionUpTo(requirements, "denied"));
  return store.findMany(entity, { where: all, select: ["id", ...keysOf(paths)] });
}

async function othersOf({ lockFinders }: MutableOperation, own: readonly LockedRecord[]): Promise<LockedRecord[]> {
  const others: LockedRecord[] = [];
  for (const find of lockFinders) others.push(...(await find(own.map(({ id }) => id))));
  return others;
}

// “Another administrator of the same group is left”: two administrators who leave at the same time would each find the
// other. Where transactions run concurrently, such writes wait for each other by locking the records that both lead to,
// such as the group or its owner.

/**
 * A belongsTo relation through which a condition leads back to the written entity, with the relations that follow on
 * its path.
 */
interface SharedPath {
  readonly relation: ResolvedRelation;
  readonly further: readonly SharedPath[];
}

/** The paths of belongsTo relations through which a condition on an entity's records leads back to the entity. */
export function sharedPaths(condition: Condition, entity: AnyEntity): SharedPath[] {
  const paths: SharedPath[] = [];
  visitCondition(condition, (leaf) => {
    if (leaf.op !== "related" || leaf.relation.type !== "belongsTo") return false;
    const { relation, matches } = leaf;
    if (relation.target === entity || looksAt(matches, entity))
      paths.push({ relation, further: sharedPaths(matches, entity) });
    return false;
  });
  return paths;
}

type LockedRecords = Map<string, LockedRecord>;

const keyOf = ({ entity, id }: LockedRecord): string => `${entity.name} ${id}`;

/** All writes lock by entity name, then by id. */
function inOrder({ entity, id }: LockedRecord, other: LockedRecord): number {
  if (entity !== other.entity) return entity.name < other.entity.name ? -1 : 1;
  return (entity.columns.id as ColumnDefinition).kind.compare(id, other.id);
}

async function collect(store: Driver, paths: readonly SharedPath[], row: Row, found: LockedRecords): Promise<void> {
  for (const { relation, further } of paths) {
    const id = row[relation.foreignKey as string];
    if (typeof id !== "string") continue;
    const shared = { entity: relation.target, id };
    found.set(keyOf(shared), shared);
    const next =
      further.length === 0 ? null : await store.findOne(relation.target, { id }, { select: keysOf(further) });
    if (next !== null) await collect(store, further, next, found);
  }
}

/** The foreign keys that the paths start with. */
const keysOf = (paths: readonly SharedPath[]): string[] => paths.map(({ relation }) => relation.foreignKey as string);

/**
 * Locks the records that paths lead to, in a fixed order, so that requests do not deadlock.
 * @param store the driver of a transaction
 * @param rows the record as stored and as changed, or the new record
 * @param also further records to lock in the same order, such as the record itself
 * @returns a function that checks, once the record is locked, whether it still leads to the locked records
 */
export async function lockShared(
  store: Driver,
  paths: readonly SharedPath[],
  rows: readonly Row[],
  also: readonly LockedRecord[] = [],
): Promise<(rows: readonly Row[]) => Promise<void>> {
  const shared: LockedRecords = new Map();
  for (const row of rows) await collect(store, paths, row, shared);
  for (const one of also) shared.set(keyOf(one), one);
  for (const { entity, id, lock = true } of [...shared.values()].sort(inOrder))
    await store.findOne(entity, { id }, { select: ["id"], lock });
  return async (held) => {
    const now: LockedRecords = new Map();
    for (const row of held) await collect(store, paths, row, now);
    if (![...now.keys()].every((key) => shared.has(key))) throw new RecordChangedError();
  };
}
