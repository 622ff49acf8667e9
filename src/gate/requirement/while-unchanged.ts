import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import { RecordChangedError } from "../../kernel/index.ts";
import { type Condition, looksAt, type Row, visitCondition } from "../condition/condition.ts";
import { inTransaction, type MutableOperation, testsOf } from "../operation/new-operation.ts";
import type { Driver, FindOptions } from "../statement/driver-port.ts";

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
    const paths = isConcurrent ? sharedPaths(where, entity) : [];
    // The record before and after the change; each may lead to other records.
    const states = (row: Row): readonly Row[] => [row, { ...row, ...operation.data }];
    const before = paths.length === 0 ? null : await store.findOne(entity, { id }, { select: keysOf(paths) });
    const lock = kind === "delete" ? "delete" : true;
    const own = { entity, id: id as string, lock } as const;
    const assertShared = before === null ? undefined : await lockShared(store, paths, states(before), own);
    const row = await store.findOne(entity, where, { lock });
    if (row === null) return false;
    await assertShared?.(states(row));
    if (isUnchanged?.(row) === false) throw new RecordChangedError();
    operation.held = row;
    for (const listener of heldListeners) await listener(row);
    return write(row);
  });
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
export function sharedPaths(condition: Condition, entity: AnyEntity): readonly SharedPath[] {
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

interface SharedRecord {
  readonly entity: AnyEntity;
  readonly id: string;
  readonly lock: FindOptions["lock"];
}

type SharedRecords = Map<string, SharedRecord>;

const keyOf = ({ entity, id }: SharedRecord): string => `${entity.name} ${id}`;

async function collect(store: Driver, paths: readonly SharedPath[], row: Row, found: SharedRecords): Promise<void> {
  for (const { relation, further } of paths) {
    const id = row[relation.foreignKey as string];
    if (typeof id !== "string") continue;
    const shared = { entity: relation.target, id, lock: true };
    found.set(keyOf(shared), shared);
    const next =
      further.length === 0 ? null : await store.findOne(relation.target, { id }, { select: keysOf(further) });
    if (next !== null) await collect(store, further, next, found);
  }
}

/** The foreign keys that the paths start with. */
function keysOf(paths: readonly SharedPath[]): readonly string[] {
  return paths.map(({ relation }) => relation.foreignKey as string);
}

/**
 * Locks the records that paths lead to, in a fixed order, so that requests do not deadlock.
 * @param store the driver of a transaction
 * @param rows the record as stored and as changed, or the new record
 * @param own the record itself, which is locked in the same order if the others include records of its entity
 * @returns a function that checks, once the record is locked, whether it still leads to the locked records
 */
export async function lockShared(
  store: Driver,
  paths: readonly SharedPath[],
  rows: readonly Row[],
  own?: SharedRecord,
): Promise<(rows: readonly Row[]) => Promise<void>> {
  const shared: SharedRecords = new Map();
  for (const row of rows) await collect(store, paths, row, shared);
  if (own !== undefined && [...shared.values()].some(({ entity }) => entity === own.entity))
    shared.set(keyOf(own), own);
  const inOrder = [...shared].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [, { entity, id, lock }] of inOrder) await store.findOne(entity, { id }, { select: ["id"], lock });
  return async (held) => {
    const now: SharedRecords = new Map();
    for (const row of held) await collect(store, paths, row, now);
    if (![...now.keys()].every((key) => shared.has(key))) throw new RecordChangedError();
  };
}
