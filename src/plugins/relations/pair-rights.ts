import { type AnyEntity, isKeelsonError, type ResolvedRelation } from "../../entity/index.ts";
import {
  asItPasses,
  compileWhere,
  giveTurn,
  type Operation,
  type OperationScope,
  withoutRecord,
} from "../../gate/index.ts";
import { AuthorizationError, ValidationFailedError } from "../../kernel/index.ts";

// What a caller needs to write pairs: to see what they lead to, to update the record at the other end where it declares the
// relation, and to read the record whose pairs are replaced.

/** A manyToMany relation as callers write it: all its ids at once, under `<relation>Ids`. */
export interface Links {
  readonly relation: ResolvedRelation;
  /** Where the input has them. */
  readonly key: string;
  /** Whether they are all pairs that there should be, or some to add or to remove. */
  readonly mode: "set" | "add" | "remove";
  readonly ids: readonly unknown[];
}

/** The same with ids as they are in code. */
export type ReadLinks = Omit<Links, "ids"> & { readonly ids: readonly string[] };

/** What a write adds to the pairs of one relation, and what it removes. */
export interface Changes {
  readonly relation: ResolvedRelation;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Ids that one statement asks for. */
const PORTION = 500;

/** A target the caller may not read is refused in the same words as a missing one. */
export async function checkTargets(scope: OperationScope, taken: readonly ReadLinks[]): Promise<void> {
  const errors: Record<string, string> = {};
  for (const { relation, key, mode, ids } of taken) {
    if (mode === "remove") continue;
    const visible = await visibleIds(scope, relation.target, ids);
    const missing = ids.find((id) => !visible.has(id));
    if (missing !== undefined) errors[key] = `${relation.target.name} "${missing}" does not exist`;
  }
  if (Object.keys(errors).length > 0) throw new ValidationFailedError(errors);
}

/** Relations whose targets may have become invisible while the write waited for a lock. */
export async function seenOnConditions(
  scope: OperationScope,
  taken: readonly ReadLinks[],
): Promise<readonly ReadLinks[]> {
  const found: ReadLinks[] = [];
  for (const links of taken) {
    const { predicate, guard } = await scope.access.readDecision(links.relation.target);
    if (predicate !== undefined || guard !== undefined) found.push(links);
  }
  return found;
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

/**
 * Asks for the right to update the records at the other end of pairs that both sides declare.
 * @throws AuthorizationError
 */
export async function assertMayChange(
  operation: Operation,
  changes: readonly Changes[],
  given?: string,
): Promise<void> {
  const { entity, kind, scope, records } = operation;
  const id = given ?? String(records[0]?.id);
  const otherSides = new Map<AnyEntity, string[]>();
  for (const { relation, added, removed } of changes) {
    const { inverse, target } = relation;
    if (inverse === undefined) continue;
    const others = [...added, ...removed].filter((other) => target !== entity || other !== id);
    if (others.length > 0) otherSides.set(target, [...(otherSides.get(target) ?? []), ...others]);
  }
  const isStored = kind === "create" && given === undefined;
  if (otherSides.size > 0) await assertMayUpdate(scope, otherSides, isStored ? { entity, id } : undefined);
}

const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * A pair of a many-to-many relation belongs to both sides: where the other side declares the relation too, changing a pair
 * takes the update right on the record there. Call it in the transaction that changes the pairs. Where transactions run
 * concurrently, the records are locked first, in the order of their ids, and the rules are asked afterwards, so that they
 * see what was committed in the meantime.
 * @param records ids of the records at the other end, by their entity
 * @param without a record that must not vouch for its own pairs: it is new, and stored by now
 * @throws AuthorizationError
 */
async function assertMayUpdate(
  scope: OperationScope,
  records: ReadonlyMap<AnyEntity, readonly string[]>,
  without?: { readonly entity: AnyEntity; readonly id: string },
): Promise<void> {
  const { app, driver, principal } = scope;
  if (principal.kind === "system") return;
  const entities = [...records.keys()].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entity of entities) {
    const ids = [...new Set(records.get(entity))].sort();
    const decided = await scope.access.decide({ kind: "update", entity, ids });
    if (decided.predicate === undefined && decided.guard === undefined) continue;
    const rule = decided.predicate && compileWhere(app.model, entity, decided.predicate);
    const decision = {
      ...decided,
      predicate: without && rule ? withoutRecord(rule, without.entity, without.id) : rule,
    };
    if (driver.capabilities.concurrentTransactions)
      for (const id of ids) {
        await giveTurn(scope);
        await driver.findOne(entity, { id }, { select: ["id"], lock: true });
      }
    for (const id of ids) {
      await giveTurn(scope);
      const row = await driver.findOne(entity, { id });
      if (row === null || (await asItPasses({ driver, app }, entity, decision, row)) === undefined)
        throw new AuthorizationError(`Changing this relation takes the right to update ${entity.name} "${id}" as well`);
    }
  }
}

/**
 * Writing all pairs of a record at once tells which it had, so it takes the right to read the record.
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
