import type { AnyEntity, ColumnDefinition, EntityModel, ResolvedRelation } from "../../entity/index.ts";
import {
  decideAgain,
  type HookFunction,
  notePairs,
  type Operation,
  type OperationKind,
  type OperationScope,
  type PluginContext,
  type Row,
} from "../../gate/index.ts";
import { ConflictError, InternalError, ValidationFailedError } from "../../kernel/index.ts";
import {
  assertStill,
  type Changes,
  checkTargets,
  type Ends,
  endsToLock,
  type Links,
  MOST_PAIRS,
  type ReadLinks,
  type Right,
  rightsToChange,
  rightToRead,
  rightToRemoved,
  rightToTargets,
  visibleIds,
} from "./pair-rights.ts";

/**
 * Writes manyToMany relations. Lists of ids are taken out of the data before validation, and checked with it. All
 * rights are decided in the record's transaction before anything is stored, so that a record cannot grant the right to
 * its own pairs. Then the record is stored, and after it the pairs.
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
    refuseSecondList(taken);
    const read = (): ReadLinks[] => taken.map((links) => ({ ...links, ids: idsOf(links, operation.scope) }));
    read(); // reports invalid ids before anything is stored
    if (operation.ids !== undefined) {
      operation.apart = true;
      return;
    }
    waiting.set(operation, read);
    operation.transactional = true;
    let decided: Decided | undefined;
    let ends: Ends | undefined;
    if (taken.some(({ relation }) => relation.inverse !== undefined))
      operation.lockAlso(async (ids) => {
        ends = await endsToLock(operation, combined(read()), ids);
        return [...ends.locked.values()];
      });
    operation.whenHeld(async (record) => {
      decided = await decideChanges(operation, record, combined(read()), ends);
    });
    operation.whenDecidedAgain((writes) => assertStill(operation.scope, decided?.rights ?? [], writes));
    operation.whenWritten(async () => {
      if (decided === undefined) throw new InternalError("Pairs are stored only after the right to them is decided");
      const { changes } = decided;
      await storeChanges(operation, changes);
      notePairs(operation, byRelation(changes));
      if (changes.some(({ added, removed }) => added.length + removed.length > 0)) await decideAgain(operation);
    });
  };
  const check: HookFunction<"operation:validate"> = (operation) => {
    const read = waiting.get(operation);
    return read === undefined ? undefined : checkTargets(operation.scope, read());
  };

  hooks.on("operation:normalize", take, { appliesTo });
  // These run statements of the operation, so the request's time limit applies, not the one for hooks.
  hooks.on("operation:validate", check, { appliesTo, timeout: 0 });
}

function linkKeys(model: EntityModel, entity: AnyEntity): ReadonlyMap<string, ResolvedRelation> {
  const relations = model
    .relationsOf(entity)
    .filter(({ type, remote }) => type === "manyToMany" && remote === undefined);
  return new Map(relations.map((relation) => [`${relation.name}Ids`, relation]));
}

/** @throws ValidationFailedError for two complete lists of one relation */
function refuseSecondList(taken: readonly Links[]): void {
  const lists = new Map<ResolvedRelation, string>();
  for (const { relation, key, mode } of taken) {
    if (mode !== "set") continue;
    const first = lists.get(relation);
    if (first !== undefined) throw new ValidationFailedError({ [key]: `is said more than once, with ${first}` });
    lists.set(relation, key);
  }
}

/** The links of each relation as one change: first the complete list, then ids that are removed, then added ones. */
function combined(taken: readonly ReadLinks[]): ReadLinks[] {
  const relations = new Set(taken.map(({ relation }) => relation));
  return [...relations].flatMap((relation) => {
    const own = taken.filter((links) => links.relation === relation);
    const said = (mode: Links["mode"]): string[] =>
      own.filter((links) => links.mode === mode).flatMap(({ ids }) => ids);
    const added = new Set(said("add"));
    const removed = new Set(said("remove").filter((id) => !added.has(id)));
    const of = (mode: Links["mode"], ids: Iterable<string>): ReadLinks[] => {
      const first = own.find((links) => links.mode === mode);
      return first === undefined ? [] : [{ ...first, ids: [...ids] }];
    };
    const listed = new Set([...said("set").filter((id) => !removed.has(id)), ...added]);
    const list = of("set", listed);
    return list.length > 0 ? list : [...of("add", added), ...of("remove", removed)];
  });
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

/** Converts an id to text; other values are returned unchanged. */
function textOf({ kind }: ColumnDefinition, id: unknown): unknown {
  const found = kind.convert?.(id);
  return found?.ok === true ? found.value : id;
}

/** How a write changes pairs, and the rights that this needs, as decided before storing. */
interface Decided {
  readonly changes: readonly Changes[];
  readonly rights: readonly Right[];
}

/** @param record the stored record, which is locked, or the new record, which is not stored yet */
async function decideChanges(
  operation: Operation,
  record: Row,
  taken: readonly ReadLinks[],
  ends: Ends | undefined,
): Promise<Decided> {
  const { entity, scope, kind } = operation;
  const id = String(record.id);
  // The result reveals which pairs are stored.
  const rights: Right[] = kind === "update" ? [...(await rightToRead(scope, entity, id))] : [];
  const changes: Changes[] = [];
  for (const links of taken) changes.push(await changesOf(operation, id, links));
  rights.push(...(await rightsToChange(operation, changes, id, ends)));
  for (const links of taken) if (links.mode !== "remove") rights.push(await rightToTargets(scope, links));
  if (scope.driver.capabilities.concurrentTransactions)
    for (const change of changes) rights.push(await rightToRemoved(scope, change));
  return { changes, rights };
}

/** The changes of each relation, together. */
function byRelation(changes: readonly Changes[]): readonly Changes[] {
  const found = new Map<ResolvedRelation, Changes>();
  for (const { relation, added, removed } of changes) {
    const known = found.get(relation) ?? { relation, added: [], removed: [] };
    found.set(relation, { relation, added: [...known.added, ...added], removed: [...known.removed, ...removed] });
  }
  return [...found.values()];
}

async function changesOf(operation: Operation, id: string, links: ReadLinks): Promise<Changes> {
  const { relation, mode, ids } = links;
  const before = await storedPairs(operation, id, links);
  const given = new Set(ids);
  const stored = new Set(before);
  const isDropped = (target: string): boolean => (mode === "remove" ? given.has(target) : !given.has(target));
  const dropped = mode === "add" ? [] : before.filter(isDropped);
  // A caller who writes back a list they have read must not remove targets that were hidden from them.
  const visible = await visibleIds(operation.scope, relation.target, dropped);
  return {
    relation,
    added: mode === "remove" ? [] : ids.filter((target) => !stored.has(target)),
    removed: dropped.filter((target) => visible.has(target)),
  };
}

/**
 * The targets of stored pairs that a write may change: those that it names, or all that the caller may read.
 * @throws ConflictError if there are more than one request may change
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
