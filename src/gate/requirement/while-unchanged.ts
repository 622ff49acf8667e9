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
    const shared = isConcurrent ? sharedPaths(where, entity) : [];
    // The record before and after the change; each may lead to other records.
    const states = (row: Row): readonly Row[] => [row, { ...row, ...operation.data }];
    const lock = kind === "delete" ? "delete" : true;
    const isShared = isConcurrent && (shared.length > 0 || operation.lockFinders.length > 0);
    const { rows, paths } = isShared ? await changeable(operation, where, shared) : NOTHING;
    if (isShared && rows.length === 0) return false;
    const ids = rows.map(({ id }) => String(id));
    const others = isShared ? (await Promise.all(operation.lockFinders.map((find) => find(ids)))).flat() : [];
    const own = paths.length + others.length > 0 ? ids.map((id) => ({ entity, id, lock }) as const) : [];
    const assertShared = await lockShared(store, paths, rows.flatMap(states), [...own, ...others]);
    const row = await store.findOne(entity, where, { lock });
    if (row === null) return false;
    await assertShared(states(row));
    if (isUnchanged?.(row) === false) throw new RecordChangedError();
    operation.held = row;
    for (const listener of heldListeners) await listener(row);
    return write(row);
  });
}

/** Records that a transaction will change, and the paths of the conditions on them. */
interface Changeable {
  readonly rows: readonly Row[];
  readonly paths: readonly SharedPath[];
}

const NOTHING: Changeable = { rows: [], paths: [] };

/** The lists of records whose locks have been taken. */
const lockedTogether = new WeakSet<readonly string[]>();

/** The records that the transaction will change, of those that the caller may change: refused writes lock nothing. */
async function changeable(
  { among, decision, entity, requirements, scope: { app, store } }: MutableOperation,
  where: Condition,
  paths: readonly SharedPath[],
): Promise<Changeable> {
  if (among === undefined || lockedTogether.has(among))
    return { rows: await store.findMany(entity, { where, select: ["id", ...keysOf(paths)] }), paths };
  lockedTogether.add(among);
  const { kind } = entity.columns.id as ColumnDefinition;
  const ids = among.filter((id) => id.length <= app.limits.idLength && kind.accepts(id));
  const reasons = await reasonsFor({ app, driver: store }, entity, decision, ids);
  const all = merged([...paths, ...[...new Set(reasons.values())].flatMap((reason) => sharedPaths(reason, entity))]);
  const allowed = allOf({ id: { in: [...reasons.keys()] } }, conditionUpTo(requirements, "denied"));
  return { rows: await store.findMany(entity, { where: allowed, select: ["id", ...keysOf(all)] }), paths: all };
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

/** Paths of several conditions, without repetitions. */
function merged(paths: readonly SharedPath[]): SharedPath[] {
  const found = new Map<ResolvedRelation, SharedPath[]>();
  for (const { relation, further } of paths) found.set(relation, [...(found.get(relation) ?? []), ...further]);
  return [...found].map(([relation, further]) => ({ relation, further: merged(further) }));
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

async function collect(
  store: Driver,
  paths: readonly SharedPath[],
  rows: readonly Row[],
  found: LockedRecords,
): Promise<void> {
  for (const { relation, further } of paths) {
    const ids = new Set(rows.map((row) => row[relation.foreignKey as string]).filter((id) => typeof id === "string"));
    for (const id of ids) found.set(keyOf({ entity: relation.target, id }), { entity: relation.target, id });
    if (further.length === 0 || ids.size === 0) continue;
    const query = { where: { id: { in: [...ids] } }, select: keysOf(further) };
    await collect(store, further, await store.findMany(relation.target, query), found);
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
  await collect(store, paths, rows, shared);
  for (const one of also) shared.set(keyOf(one), one);
  for (const { entity, id, lock = true } of [...shared.values()].sort(inOrder))
    await store.findOne(entity, { id }, { select: ["id"], lock });
  return async (held) => {
    const now: LockedRecords = new Map();
    await collect(store, paths, held, now);
    if (![...now.keys()].every((key) => shared.has(key))) throw new RecordChangedError();
  };
}
