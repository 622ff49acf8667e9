import {
  type AnyEntity,
  type ColumnDefinition,
  type EntityModel,
  isKeelsonError,
  type ResolvedRelation,
} from "../../entity/index.ts";
import {
  asItPasses,
  compileWhere,
  decideCreateAgain,
  giveTurn,
  type HookFunction,
  mayWaitForOthers,
  type Operation,
  type OperationKind,
  type OperationScope,
  type PluginContext,
  type Row,
  withoutRecord,
} from "../../gate/index.ts";
import { AuthorizationError, ConflictError, InternalError, ValidationFailedError } from "../../kernel/index.ts";

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
type ReadLinks = Omit<Links, "ids"> & { readonly ids: readonly string[] };

/** What a write adds to the pairs of one relation, and what it removes. */
interface Changes {
  readonly relation: ResolvedRelation;
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Ids that one statement asks for. */
const PORTION = 500;
/** Pairs that one write may replace. */
const MOST_PAIRS = 10_000;

/**
 * Writes manyToMany relations. The lists leave the data before it is validated, and are checked with it. In the transaction
 * of the record, all rights are decided before anything is stored, so that a record cannot grant the right to its own pairs;
 * then the record is stored, and its pairs after it.
 */
export function addLinkHooks(
  hooks: PluginContext["hooks"],
  model: EntityModel,
  nested: (operation: Operation) => readonly Links[],
): void {
  const keys = new Map<AnyEntity, ReadonlyMap<string, ResolvedRelation>>(
    model.entities.map((entity) => [entity, linkKeys(model, entity)]),
  );
  const waiting = new WeakMap<Operation, () => readonly ReadLinks[]>();
  const appliesTo = (entity: AnyEntity, kind: OperationKind): boolean =>
    (kind === "create" || kind === "update") && (keys.get(entity)?.size ?? 0) > 0;

  const take: HookFunction<"operation:normalize"> = (operation) => {
    const taken: Links[] = [...nested(operation)];
    for (const [key, relation] of keys.get(operation.entity) ?? []) {
      const value = operation.data[key];
      delete operation.data[key];
      if (value !== undefined) taken.push({ relation, key, mode: "set", ids: listOf(key, value) });
    }
    if (taken.length === 0) return;
    const read = (): ReadLinks[] => taken.map((links) => ({ ...links, ids: idsOf(links, operation.scope) }));
    read(); // what is wrong with them is said before anything is stored
    if (operation.ids !== undefined) {
      operation.apart = true;
      return;
    }
    waiting.set(operation, read);
    operation.transactional = true;
    let changes: readonly Changes[] | undefined;
    operation.whenHeld(async (record) => {
      changes = await decideChanges(operation, record, read());
    });
    operation.whenWritten(async () => {
      if (changes === undefined) throw new InternalError("Pairs are stored only after the right to them is decided");
      if (operation.kind === "update" && mayWaitForOthers(operation)) await assertMayChange(operation, changes);
      await storeChanges(operation, changes);
      if (changes.some(({ added }) => added.length > 0)) await decideAgain(operation, changes, read());
    });
  };
  const check: HookFunction<"operation:validate"> = (operation) => {
    const read = waiting.get(operation);
    return read === undefined ? undefined : checkTargets(operation.scope, read());
  };

  hooks.on("operation:normalize", take, { appliesTo });
  // Statements like the operation's own: the request's time limit counts, not the one for hooks.
  hooks.on("operation:validate", check, { appliesTo, timeout: 0 });
}

function linkKeys(model: EntityModel, entity: AnyEntity): ReadonlyMap<string, ResolvedRelation> {
  const relations = model
    .relationsOf(entity)
    .filter(({ type, remote }) => type === "manyToMany" && remote === undefined);
  return new Map(relations.map((relation) => [`${relation.name}Ids`, relation]));
}

function listOf(key: string, given: unknown): readonly unknown[] {
  if (!Array.isArray(given)) throw new ValidationFailedError({ [key]: "must be a list of ids" });
  return given;
}

function idsOf({ key, ids: given, relation }: Links, { app: { limits } }: OperationScope): readonly string[] {
  const isId = (id: unknown): id is string => typeof id === "string" && id !== "" && id.length <= limits.idLength;
  const read = given.map((id) => textOf(relation.target.columns.id as ColumnDefinition, id));
  if (!read.every(isId)) throw new ValidationFailedError({ [key]: "must be a list of ids" });
  const ids = [...new Set(read)];
  if (ids.length > limits.maxPageSize)
    throw new ValidationFailedError({ [key]: `must be at most ${limits.maxPageSize} ids` });
  return ids;
}

/** An id as it is in code; other values as they are. */
function textOf({ kind }: ColumnDefinition, id: unknown): unknown {
  const found = kind.convert?.(id);
  return found?.ok === true ? found.value : id;
}

/** A target the caller may not read is refused in the same words as a missing one. */
async function checkTargets(scope: OperationScope, taken: readonly ReadLinks[]): Promise<void> {
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
async function seenOnConditions(scope: OperationScope, taken: readonly ReadLinks[]): Promise<readonly ReadLinks[]> {
  const found: ReadLinks[] = [];
  for (const links of taken) {
    const { predicate, guard } = await scope.access.readDecision(links.relation.target);
    if (predicate !== undefined || guard !== undefined) found.push(links);
  }
  return found;
}

async function visibleIds(
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

/** @param record the stored record, which is locked, or the new one, which is not stored yet */
async function decideChanges(
  operation: Operation,
  record: Row,
  taken: readonly ReadLinks[],
): Promise<readonly Changes[]> {
  const { entity, scope, kind } = operation;
  const id = String(record.id);
  // The answer tells which pairs are stored.
  if (kind === "update") await assertMayRead(scope, entity, id);
  const changes: Changes[] = [];
  for (const links of taken) changes.push(await changesOf(operation, id, links));
  await assertMayChange(operation, changes, id);
  await checkTargets(scope, await seenOnConditions(scope, taken));
  return changes;
}

/**
 * Asks for the right to update the records at the other end of pairs that both sides declare.
 * @throws AuthorizationError
 */
async function assertMayChange(operation: Operation, changes: readonly Changes[], given?: string): Promise<void> {
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

/**
 * Where transactions run concurrently, storing a new record and pairs may have waited for others, as those that change a
 * unique value of a record at the other end: what was decided before may not hold any more. What is new does not count.
 * @throws AuthorizationError, AuthenticationError, ValidationFailedError
 */
async function decideAgain(
  operation: Operation,
  changes: readonly Changes[],
  taken: readonly ReadLinks[],
): Promise<void> {
  const { kind, scope } = operation;
  if (!scope.driver.capabilities.concurrentTransactions) return;
  if (kind === "create") await assertMayChange(operation, changes);
  await checkTargets(scope, await seenOnConditions(scope, taken));
  if (kind === "create") await decideCreateAgain(operation);
}

async function changesOf(operation: Operation, id: string, links: ReadLinks): Promise<Changes> {
  const { relation, mode, ids } = links;
  const before = await storedPairs(operation, id, links);
  const wanted = new Set(ids);
  const stored = new Set(before);
  const isDropped = (target: string): boolean => (mode === "remove" ? wanted.has(target) : !wanted.has(target));
  const dropped = mode === "add" ? [] : before.filter(isDropped);
  // A caller who writes back the list they were shown must not remove what was hidden from them.
  const visible = await visibleIds(operation.scope, relation.target, dropped);
  return {
    relation,
    added: mode === "remove" ? [] : ids.filter((target) => !stored.has(target)),
    removed: dropped.filter((target) => visible.has(target)),
  };
}

/**
 * The other ends of the stored pairs that a write may be about: those that it names, or all that the caller may read.
 * @throws ConflictError for more of them than one request may change
 */
async function storedPairs(
  { entity, kind, scope, principal }: Operation,
  id: string,
  { relation, mode, ids }: ReadLinks,
): Promise<readonly string[]> {
  if (kind === "create") return [];
  const { allowed, predicate } = await scope.access.readDecision(relation.target);
  if (!allowed) return [];
  const most = mode === "set" && principal.kind !== "system" ? MOST_PAIRS : Number.POSITIVE_INFINITY;
  const where = mode === "set" ? predicate : { id: { in: ids } };
  const limit = Number.isFinite(most) ? most + 1 : undefined;
  const pairs = await scope.driver.links(entity, relation.name, [id], { where, limit });
  if (pairs.length > most)
    throw new ConflictError(`There are more than ${most} records of "${relation.name}"; disconnect some of them first`);
  return pairs.map(({ target }) => target);
}

async function storeChanges({ entity, scope, records }: Operation, changes: readonly Changes[]): Promise<void> {
  const id = records[0]?.id;
  if (typeof id !== "string") return;
  for (const { relation, added, removed } of changes) {
    if (removed.length > 0) await scope.driver.unlink(entity, relation.name, id, removed);
    if (added.length > 0) await scope.driver.link(entity, relation.name, id, added);
  }
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
