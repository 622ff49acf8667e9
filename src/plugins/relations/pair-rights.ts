import { type AnyEntity, isKeelsonError, type ResolvedRelation } from "../../entity/index.ts";
import {
  allOf,
  asItPasses,
  type Condition,
  compileWhere,
  type Decision,
  giveTurn,
  looksAt,
  type Operation,
  type OperationScope,
  type PairChange,
  type Where,
  withoutRecord,
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

/** Links to targets that only some callers may read, and what is known about these targets before storing. */
export interface SeenLinks extends ReadLinks {
  /** Who may read the targets. */
  readonly rule: Condition;
  /** Targets that the caller must be able to read without the record: the write must not make them readable by itself. */
  readonly apart: ReadonlySet<unknown>;
}

/**
 * Links whose targets have conditional visibility, which may change while the write waits for other transactions.
 * @param record the id of the stored record; undefined for a new record
 */
export async function seenOnConditions(
  { scope, entity }: Operation,
  taken: readonly ReadLinks[],
  record: string | undefined,
): Promise<readonly SeenLinks[]> {
  const found: SeenLinks[] = [];
  for (const links of taken) {
    if (links.mode === "remove") continue;
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
 * Checks after storing pairs that the caller may still read their targets. The effects of the record and its pairs are no
 * reason to refuse them, and no reason to accept them.
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
    if (lost !== undefined) throw unseen([[links, lost]]);
  }
}

/** The targets that the caller could read without the record. */
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
 * For each entity at the other end of pairs whose rules depend on the record: the ids that the caller may update without
 * the record whose pairs are written.
 */
export type PairRights = ReadonlyMap<AnyEntity, ReadonlySet<string>>;

/** A record whose pairs are written. */
interface Written {
  readonly entity: AnyEntity;
  readonly id: string;
  readonly isNew: boolean;
}

/**
 * Checks the right to update the records at the other end of pairs that both sides declare.
 * @param id the id of the record whose pairs are written
 * @param earlier the result of the check before the record was stored; undefined if it is not stored yet
 * @returns the entities whose records were checked; if transactions run concurrently, these records are locked now
 * @throws AuthorizationError
 */
export async function assertMayChange(
  { entity, kind, scope }: Operation,
  changes: readonly Changes[],
  id: string,
  earlier?: PairRights,
): Promise<PairRights> {
  const otherSides = new Map<AnyEntity, string[]>();
  for (const { relation, added, removed } of changes) {
    const { inverse, target } = relation;
    if (inverse === undefined) continue;
    const others = [...added, ...removed].filter((other) => target !== entity || other !== id);
    if (others.length > 0) otherSides.set(target, [...(otherSides.get(target) ?? []), ...others]);
  }
  return assertMayUpdate(scope, otherSides, { entity, id, isNew: kind === "create" }, earlier);
}

const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * A manyToMany pair belongs to both sides. If the other side declares the relation too, changing a pair needs the right
 * to update the record there. Call this in the transaction that changes the pairs. If transactions run concurrently,
 * the records are locked first, in the order of their ids, so that the rules see everything that was committed
 * meanwhile. A right that did not need the written record before must not need it afterwards: the write must not justify
 * its own pairs.
 * @param records ids of the records at the other end, by entity
 * @throws AuthorizationError
 */
async function assertMayUpdate(
  scope: OperationScope,
  records: ReadonlyMap<AnyEntity, readonly string[]>,
  written: Written,
  earlier: PairRights | undefined,
): Promise<PairRights> {
  const { app, driver, principal } = scope;
  const { concurrentTransactions } = driver.capabilities;
  const rights = new Map<AnyEntity, ReadonlySet<string>>();
  if (principal.kind === "system") return rights;
  const entities = [...records.keys()].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entity of entities) {
    const ids = [...new Set(records.get(entity))].sort();
    const decision = await scope.access.decide({ kind: "update", entity, ids });
    const { predicate, guard } = decision;
    if (predicate === undefined && guard === undefined) continue;
    // A new record that is not stored yet may have no id.
    const isUnstored = written.isNew && earlier === undefined;
    const apart = isUnstored ? decision : decisionWithout(scope, entity, decision, written);
    const isAlike =
      written.isNew || (guard === undefined && !looksAt(compileWhere(app.model, entity, predicate), written.entity));
    const known = earlier?.get(entity);
    const own = new Set<string>();
    rights.set(entity, own);
    if (concurrentTransactions)
      for (const id of ids) {
        await giveTurn(scope);
        await driver.findOne(entity, { id }, { select: ["id"], lock: true });
      }
    for (const id of ids) {
      await giveTurn(scope);
      const row = await driver.findOne(entity, { id });
      const passes = async (by: Decision): Promise<boolean> =>
        row !== null && (await asItPasses({ driver, app }, entity, by, row)) !== undefined;
      const isApart = earlier !== undefined && known?.has(id) !== false;
      if (!(await passes(isApart ? apart : decision)))
        throw new AuthorizationError(`Changing this relation takes the right to update ${entity.name} "${id}" as well`);
      if (isApart || isAlike || (concurrentTransactions && (await passes(apart)))) own.add(id);
    }
  }
  return rights;
}

/** A decision as if a record did not exist, also for conditions that rules return after reading the other record. */
function decisionWithout(
  { app }: OperationScope,
  entity: AnyEntity,
  { predicate, guard, ...others }: Decision,
  record: Written,
): Decision {
  const without = (where: Where): Where =>
    withoutRecord(compileWhere(app.model, entity, where), record.entity, record.id);
  return {
    ...others,
    predicate: predicate && without(predicate),
    guard:
      guard &&
      (async (row) => {
        const answer = await guard(row);
        return typeof answer === "object" ? without(answer) : answer;
      }),
  };
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
