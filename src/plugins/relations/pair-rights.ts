import { type AnyEntity, isKeelsonError, type ResolvedRelation } from "../../entity/index.ts";
import {
  allOf,
  asItPasses,
  type Condition,
  compileWhere,
  giveTurn,
  looksAt,
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

/** Pairs with records that only some callers see, and what is known of these before anything is stored. */
export interface SeenLinks extends ReadLinks {
  /** Who sees the targets. */
  readonly rule: Condition;
  /** Targets that the caller must see without the record: it may not show them by itself. */
  readonly apart: ReadonlySet<unknown>;
}

/**
 * Relations whose targets may become invisible while the write waits for others.
 * @param record the record that is written, as it is stored; undefined for a new one
 */
export async function seenOnConditions(
  { scope, entity }: Operation,
  taken: readonly ReadLinks[],
  record: string | undefined,
): Promise<readonly SeenLinks[]> {
  const found: SeenLinks[] = [];
  for (const links of taken) {
    const { target } = links.relation;
    const { predicate, guard } = await scope.access.readDecision(target);
    if (predicate === undefined && guard === undefined) continue;
    const rule = compileWhere(scope.app.model, target, predicate);
    const asks = record !== undefined && looksAt(rule, entity) && scope.driver.capabilities.concurrentTransactions;
    const apart = asks ? await idsWithout(scope, { ...links, rule }, { entity, id: record }) : links.ids;
    found.push({ ...links, rule, apart: new Set(apart) });
  }
  return found;
}

/**
 * Once pairs are stored: whether the caller still sees what they lead to. What the record and its pairs bring about is no
 * reason to refuse them, and none to let them pass.
 */
export async function checkTargetsAgain(operation: Operation, seen: readonly SeenLinks[]): Promise<void> {
  const { scope, entity, records } = operation;
  const record = { entity, id: String(records[0]?.id) };
  for (const links of seen) {
    if (!looksAt(links.rule, entity)) {
      await checkTargets(scope, [links]);
      continue;
    }
    const without = new Set(await idsWithout(scope, links, record));
    const others = links.ids.filter((id) => !without.has(id));
    await checkTargets(scope, [{ ...links, ids: others.filter((id) => !links.apart.has(id)) }]);
    const lost = others.find((id) => links.apart.has(id));
    if (lost !== undefined && links.mode !== "remove") throw unseen([[links, lost]]);
  }
}

/** Those of the targets that the caller would see without a record. */
async function idsWithout(
  { driver }: OperationScope,
  { relation: { target }, ids, rule }: Pick<SeenLinks, "relation" | "ids" | "rule">,
  record: { readonly entity: AnyEntity; readonly id: string },
): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (let start = 0; start < ids.length; start += PORTION) {
    const where = allOf(
      { id: { in: ids.slice(start, start + PORTION) } },
      withoutRecord(rule, record.entity, record.id),
    );
    for (const { id } of await driver.findMany(target, { where, select: ["id"] })) found.push(id);
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
 * @returns the entities of those that are locked by now, where transactions run concurrently: their pairs are stored without a wait
 * @throws AuthorizationError
 */
export async function assertMayChange(
  operation: Operation,
  changes: readonly Changes[],
  given?: string,
): Promise<ReadonlySet<AnyEntity>> {
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
  return assertMayUpdate(scope, otherSides, isStored ? { entity, id } : undefined);
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
): Promise<ReadonlySet<AnyEntity>> {
  const { app, driver, principal } = scope;
  const asked = new Set<AnyEntity>();
  if (principal.kind === "system") return asked;
  const entities = [...records.keys()].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entity of entities) {
    const ids = [...new Set(records.get(entity))].sort();
    const decided = await scope.access.decide({ kind: "update", entity, ids });
    if (decided.predicate === undefined && decided.guard === undefined) continue;
    asked.add(entity);
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
  return asked;
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
