import { type AnyEntity, isKeelsonError, type ResolvedRelation } from "../../entity/index.ts";
import {
  type Decision,
  type FurtherWrite,
  giveTurn,
  inOrderOfIds,
  type LockedRecord,
  type Operation,
  type OperationScope,
  type PairChange,
  type Reasons,
  reasonsFor,
  stillAllowed,
} from "../../gate/index.ts";
import { AuthorizationError, RecordChangedError, ValidationFailedError } from "../../kernel/index.ts";

// The rights that writing pairs needs: to read the targets, to update the records at the other end if their entity
// declares the relation, too, and to read the record whose pairs are replaced.

/** The ids of a manyToMany relation in an input. */
export interface Links {
  readonly relation: ResolvedRelation;
  /** The key in the input, for errors. */
  readonly key: string;
  /** Whether the ids replace all pairs, or are added or removed. */
  readonly mode: "set" | "add" | "remove";
  readonly ids: readonly unknown[];
}

/** Links with validated ids. */
export type ReadLinks = Omit<Links, "ids"> & { readonly ids: readonly string[] };

/** The pairs of one relation that a write adds and removes. */
export type Changes = PairChange;

/** The most pairs that one write may replace. */
export const MOST_PAIRS = 10_000;

/** The most ids of one statement. */
const PORTION = 500;

/** Checks that the caller may read all targets. A hidden target gets the same error as a missing one. */
export async function checkTargets(scope: OperationScope, taken: readonly ReadLinks[]): Promise<void> {
  const missing: (readonly [ReadLinks, string])[] = [];
  for (const links of taken) {
    if (links.mode === "remove") continue;
    const visible = await visibleIds(scope, links.relation.target, links.ids);
    const id = links.ids.find((id) => !visible.has(id));
    if (id !== undefined) missing.push([links, id]);
  }
  if (missing.length > 0) throw unseen(missing);
}

function unseen(missing: readonly (readonly [ReadLinks, string])[]): ValidationFailedError {
  const errors = missing.map(([{ key, relation }, id]) => [key, `${relation.target.name} "${id}" does not exist`]);
  return new ValidationFailedError(Object.fromEntries(errors));
}

/** A right to some records of an entity, which must still hold after each wait. */
export interface Right {
  readonly entity: AnyEntity;
  readonly ids: readonly string[];
  readonly reasons: Reasons;
  readonly refusal: (id: string) => Error;
}

/** @throws the refusal of the first record to which the caller has no right */
async function rightTo(
  scope: OperationScope,
  { entity, ids, decision, refusal }: Omit<Right, "reasons"> & { readonly decision: Decision },
): Promise<Right> {
  const reasons = await reasonsFor(scope, entity, decision, ids);
  const denied = ids.find((id) => !reasons.has(id));
  if (denied !== undefined) throw refusal(denied);
  return { entity, ids, reasons, refusal };
}

/**
 * Checks again whether rights hold, as if writes had not been made.
 * @throws the refusal of the first record to which the right has ended
 */
export async function assertStill(
  scope: OperationScope,
  rights: readonly Right[],
  writes: readonly FurtherWrite[],
): Promise<void> {
  for (const { entity, ids, reasons, refusal } of rights) {
    const allowed = await stillAllowed(scope, entity, reasons, writes);
    const lost = ids.find((id) => !allowed.has(id));
    if (lost !== undefined) throw refusal(lost);
  }
}

/**
 * The right to read the targets of links. Targets that everyone may read are left to the database.
 * @throws ValidationFailedError
 */
export async function rightToTargets(scope: OperationScope, links: ReadLinks): Promise<Right> {
  const entity = links.relation.target;
  const decision = await scope.access.readDecision(entity);
  return rightTo(scope, { entity, ids: links.ids, decision, refusal: (id) => unseen([[links, id]]) });
}

/** The right to read targets whose pairs are removed, since hidden pairs stay. */
export async function rightToRemoved(scope: OperationScope, { relation, removed }: Changes): Promise<Right> {
  const entity = relation.target;
  const decision = await scope.access.readDecision(entity);
  return rightTo(scope, { entity, ids: removed, decision, refusal: () => new RecordChangedError() });
}

export async function visibleIds(
  scope: OperationScope,
  entity: AnyEntity,
  ids: readonly string[],
): Promise<ReadonlySet<unknown>> {
  const visible = new Set<unknown>();
  if (ids.length === 0 || !(await scope.access.readDecision(entity)).allowed) return visible;
  for (let start = 0; start < ids.length; start += PORTION) {
    const some = ids.slice(start, start + PORTION);
    const query = { where: { id: { in: some } }, select: ["id"], limit: some.length };
    const { records } = await scope.run({ kind: "list", entity, query, bounded: true });
    for (const { id } of records) visible.add(id);
  }
  return visible;
}

const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

/** The records at the other end of pairs, before the write: those that it changes, and those locked for the right to it. */
export interface Ends {
  readonly changed: Set<string>;
  readonly locked: Map<string, LockedRecord>;
}

const keyOf = (entity: AnyEntity, id: string): string => `${entity.name} ${id}`;

/**
 * The ends of pairs that updates change. Those to which the right depends on the record, and which the caller may
 * update now, are to be locked.
 * @param own the ids of the updated records; for too many pairs, only that of the operation is considered
 */
export async function endsToLock(
  operation: Operation,
  taken: readonly ReadLinks[],
  own: readonly string[],
): Promise<Ends> {
  const { entity, scope } = operation;
  const ends: Ends = { changed: new Set(), locked: new Map() };
  if (scope.principal.kind === "system") return ends;
  for (const { relation, mode, ids } of taken) {
    const { inverse, name, target } = relation;
    if (inverse === undefined) continue;
    const decision = await unlessRefused(scope.access.decide({ kind: "update", entity: target, ids }));
    if (decision?.allowed === true && !isConditional(decision)) continue;
    const where = mode === "set" ? undefined : { id: { in: ids } };
    const pairs = await scope.driver.links(entity, name, own, { where, limit: MOST_PAIRS + 1 });
    if (pairs.length > MOST_PAIRS && own.length > 1) return endsToLock(operation, taken, [operation.id as string]);
    const stored = new Map<string, number>();
    for (const { target } of pairs) stored.set(target, (stored.get(target) ?? 0) + 1);
    const given = new Set(ids);
    const added = mode === "remove" ? [] : ids.filter((id) => (stored.get(id) ?? 0) < own.length);
    const removed = mode === "add" ? [] : [...stored.keys()].filter((id) => given.has(id) === (mode === "remove"));
    const changed = [...added, ...removed];
    for (const id of changed) ends.changed.add(keyOf(target, id));
    const reasons = decision && (await reasonsFor(scope, target, decision, changed));
    for (const id of reasons?.keys() ?? []) ends.locked.set(keyOf(target, id), { entity: target, id });
  }
  return ends;
}

async function unlessRefused<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isKeelsonError(error) && REFUSALS.has(error.status)) return undefined;
    throw error;
  }
}

const isConditional = ({ predicate, guard }: Decision): boolean => predicate !== undefined || guard !== undefined;

/**
 * The rights to update the records at the other end of pairs that both sides declare: such a pair belongs to both. Call
 * this in the transaction that changes the pairs. If transactions run concurrently, the records of a create are locked
 * first, in the order of their ids, so that the rules see everything that was committed meanwhile. Those of an update
 * are locked already: one that a pair has led to since would be locked out of order, so the write starts again.
 * @param id the id of the record whose pairs are written
 * @param ends the ends before an update; undefined for a create
 * @throws AuthorizationError, RecordChangedError
 */
export async function rightsToChange(
  { entity, scope }: Operation,
  changes: readonly Changes[],
  id: string,
  ends: Ends | undefined,
): Promise<readonly Right[]> {
  if (scope.principal.kind === "system") return [];
  const otherSides = new Map<AnyEntity, string[]>();
  for (const { relation, added, removed } of changes) {
    const { inverse, target } = relation;
    if (inverse === undefined) continue;
    const others = [...added, ...removed].filter((other) => target !== entity || other !== id);
    if (others.length > 0) otherSides.set(target, [...(otherSides.get(target) ?? []), ...others]);
  }
  const inOrder = [...otherSides].sort(([{ name: a }], [{ name: b }]) => (a < b ? -1 : 1));
  const rights: Right[] = [];
  for (const [other, ids] of inOrder) {
    const distinct = inOrderOfIds(other, [...new Set(ids)], (one) => one);
    rights.push(await rightToUpdate(scope, other, distinct, ends));
  }
  return rights;
}

async function rightToUpdate(
  scope: OperationScope,
  entity: AnyEntity,
  ids: readonly string[],
  ends: Ends | undefined,
): Promise<Right> {
  const { driver } = scope;
  const decision = await scope.access.decide({ kind: "update", entity, ids });
  const refusal = (id: string): Error =>
    new AuthorizationError(`Changing this relation takes the right to update ${entity.name} "${id}" as well`);
  const right = { entity, ids, decision, refusal };
  if (isConditional(decision) && driver.capabilities.concurrentTransactions) {
    if (ends === undefined) await rightTo(scope, right); // a refused create locks nothing
    for (const id of ids) {
      if (ends?.locked.has(keyOf(entity, id))) continue;
      if (ends?.changed.has(keyOf(entity, id)) === false) throw new RecordChangedError();
      await giveTurn(scope);
      await driver.findOne(entity, { id }, { select: ["id"], lock: true });
    }
  }
  return rightTo(scope, right);
}

const unreadable = (): AuthorizationError =>
  new AuthorizationError("Changing relations of a record takes the right to read it as well");

/**
 * The right to read the record whose pairs are written, because the result reveals which pairs it had.
 * @throws AuthorizationError
 */
export async function rightToRead(scope: OperationScope, entity: AnyEntity, id: string): Promise<readonly Right[]> {
  if (scope.principal.kind === "system") return [];
  await assertMayRead(scope, entity, id);
  if (!scope.driver.capabilities.concurrentTransactions) return []; // it cannot end meanwhile
  const decision = await scope.access.decide({ kind: "read", entity, id });
  return [await rightTo(scope, { entity, ids: [id], decision, refusal: unreadable })];
}

/** @throws AuthorizationError */
async function assertMayRead(scope: OperationScope, entity: AnyEntity, id: string): Promise<void> {
  if (scope.principal.kind === "system") return;
  const read = scope.run({ kind: "read", entity, id, query: { select: ["id"] }, ifFound: true });
  if ((await unlessRefused(read))?.applied !== true) throw unreadable();
}
