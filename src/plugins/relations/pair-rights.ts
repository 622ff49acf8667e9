import { type AnyEntity, isKeelsonError, type ResolvedRelation } from "../../entity/index.ts";
import {
  allowedBefore,
  type FurtherWrite,
  giveTurn,
  type Operation,
  type OperationScope,
  type PairChange,
} from "../../gate/index.ts";
import { AuthorizationError, ValidationFailedError } from "../../kernel/index.ts";

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

/**
 * Checks again whether the caller may read all targets, as if writes had not been made. Targets that everyone may read
 * are left to the database.
 */
export async function checkTargetsBefore(
  scope: OperationScope,
  taken: readonly ReadLinks[],
  writes: readonly FurtherWrite[],
): Promise<void> {
  const missing: (readonly [ReadLinks, string])[] = [];
  for (const links of taken) {
    if (links.mode === "remove") continue;
    const { target } = links.relation;
    const allowed = await allowedBefore(scope, target, await scope.access.readDecision(target), links.ids, writes);
    const id = links.ids.find((id) => !allowed.has(id));
    if (id !== undefined) missing.push([links, id]);
  }
  if (missing.length > 0) throw unseen(missing);
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

/**
 * A manyToMany pair belongs to both sides. If the other side declares the relation too, changing a pair needs the right
 * to update the record there. Call this in the transaction that changes the pairs. If transactions run concurrently,
 * the records are locked first, in the order of their ids, so that the rules see everything that was committed
 * meanwhile.
 * @param id the id of the record whose pairs are written
 * @param writes writes that neither justify nor refuse the change
 * @throws AuthorizationError
 */
export async function assertMayChange(
  { entity, scope }: Operation,
  changes: readonly Changes[],
  id: string,
  writes: readonly FurtherWrite[] = [],
): Promise<void> {
  if (scope.principal.kind === "system") return;
  const otherSides = new Map<AnyEntity, string[]>();
  for (const { relation, added, removed } of changes) {
    const { inverse, target } = relation;
    if (inverse === undefined) continue;
    const others = [...added, ...removed].filter((other) => target !== entity || other !== id);
    if (others.length > 0) otherSides.set(target, [...(otherSides.get(target) ?? []), ...others]);
  }
  const inOrder = [...otherSides].sort(([{ name: a }], [{ name: b }]) => (a < b ? -1 : 1));
  for (const [other, ids] of inOrder) await assertMayUpdate(scope, other, [...new Set(ids)].sort(), writes);
}

async function assertMayUpdate(
  scope: OperationScope,
  entity: AnyEntity,
  ids: readonly string[],
  writes: readonly FurtherWrite[],
): Promise<void> {
  const { driver } = scope;
  const decision = await scope.access.decide({ kind: "update", entity, ids });
  if (decision.allowed && decision.predicate === undefined && decision.guard === undefined) return;
  if (driver.capabilities.concurrentTransactions)
    for (const id of ids) {
      await giveTurn(scope);
      await driver.findOne(entity, { id }, { select: ["id"], lock: true });
    }
  const allowed = await allowedBefore(scope, entity, decision, ids, writes);
  const refused = ids.find((id) => !allowed.has(id));
  if (refused !== undefined)
    throw new AuthorizationError(
      `Changing this relation takes the right to update ${entity.name} "${refused}" as well`,
    );
}

/**
 * Checks the right to read the record whose pairs are written, because the result reveals which pairs it had.
 * @throws AuthorizationError
 */
export async function assertMayRead(scope: OperationScope, entity: AnyEntity, id: string): Promise<void> {
  if (scope.principal.kind === "system") return;
  try {
    const { applied } = await scope.run({ kind: "read", entity, id, query: { select: ["id"] }, ifFound: true });
    if (applied) return;
  } catch (error) {
    if (!(isKeelsonError(error) && REFUSALS.has(error.status))) throw error;
  }
  throw new AuthorizationError("Changing relations of a record takes the right to read it as well");
}
