import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import { RecordChangedError } from "../../kernel/index.ts";
import { type Condition, looksAt, type Row, visitCondition } from "../condition/condition.ts";
import { inTransaction, type MutableOperation, testsOf } from "../operation/new-operation.ts";
import type { Driver, FindOptions } from "../statement/driver-port.ts";

/**
 * Runs the statement that changes or deletes the record. The record is locked first where a decision relied on values
 * that a condition cannot compare, or a listener keeps the old values: the statement then finds what was read. It is
 * also locked where the statement's condition uses related records and transactions run concurrently, because a
 * statement that waits for the record would see them as they were before the wait. A deletion also keeps records that
 * refer to it from being stored, since it would wait for them. Where the condition comes back to the record's entity,
 * the records on its path are locked before (`lockShared`).
 * @param where the condition of the statement
 * @param write the statement; it gets the record, if locked
 * @returns whether it matched
 * @throws RecordChangedError
 */
export async function whileUnchanged(
  operation: MutableOperation,
  where: Condition,
  write: (held: Row | undefined) => Promise<boolean>,
): Promise<boolean> {
  const { entity, id, kind, requirements, heldListeners, scope } = operation;
  const isUnchanged = testsOf(requirements);
  const isConcurrent = scope.store.capabilities.concurrentTransactions;
  const isHeld = isUnchanged !== undefined || heldListeners.length > 0;
  if (!isHeld && !(isConcurrent && looksAt(where))) return write(undefined);
  if (id !== undefined && id.length > scope.app.limits.idLength) return false; // no column holds it, so no record has it
  return inTransaction(operation, async () => {
    const { store } = operation.scope;
    const paths = isConcurrent ? sharedPaths(where, entity) : [];
    // The record before and after the change: both may involve other records.
    const states = (row: Row): readonly Row[] => [row, { ...row, ...operation.data }];
    const before = paths.length === 0 ? null : await store.findOne(entity, { id }, { select: keysOf(paths) });
    const lock = kind === "delete" ? "delete" : true;
    const own = { entity, id: id as string, lock } as const;
    const assertShared = before === null ? undefined : await lockShared(store, paths, states(before), own);
    const row = await store.findOne(entity, where, { lock });
    if (row === null) return false;
    await assertShared?.(states(row));
    if (isUnchanged?.(row) === false) throw new RecordChangedError();
    for (const listener of heldListeners) await listener(row);
    return write(row);
  });
}

// “Another administrator of the same group is left”: two administrators who go at the same time would each find the other.
// Where transactions run concurrently, such writes wait for each other at the records that both lead to: the group, its owner.

/**
 * A belongsTo relation on which a condition comes back to the entity that is written, and those that follow on its
 * path.
 */
interface SharedPath {
  readonly relation: ResolvedRelation;
  readonly further: readonly SharedPath[];
}

/**
 * The paths on which a condition on an entity's records comes back to the entity, as far as they are belongsTo
 * relations.
 */
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

/** The columns of a record that paths begin with. */
function keysOf(paths: readonly SharedPath[]): readonly string[] {
  return paths.map(({ relation }) => relation.foreignKey as string);
}

/**
 * Locks the records that paths lead to, all in one order, so that requests do not deadlock.
 * @param store of a transaction
 * @param rows the record as it is stored and as it will be, or what is to be stored
 * @param own the record itself, which is locked among the others where they are of its entity
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
