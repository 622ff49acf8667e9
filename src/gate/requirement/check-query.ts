import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import { BadRequestError, didYouMean, type Limits } from "../../kernel/index.ts";
import { type AskingRights, allPresent, compileWhere, logicOf, quantifiersOf } from "../condition/compile-where.ts";
import type { Condition, Where } from "../condition/condition.ts";
import { isRanked, RANK, searchWhere } from "../condition/search.ts";
import { checkWhereShape } from "../condition/where-shape.ts";
import type { FieldMask } from "../operation/mask.ts";
import {
  type Decision,
  INCLUDED,
  type Included,
  type IncludeTree,
  type Operation,
  type OperationQuery,
} from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { SortKey } from "../statement/driver-port.ts";
import type { JoinedFind } from "../statement/statement.ts";
import { checkLimits, mostParts } from "./check-limits.ts";
import { checkPaths } from "./check-paths.ts";

type Decisions = ReadonlyMap<AnyEntity, Decision>;

/** The error for an unknown field, which is the same for fields that the caller may not see. */
function unknownField(entity: AnyEntity, name: string, known: Iterable<string>): BadRequestError {
  return new BadRequestError(`${entity.name} has no field "${name}".${didYouMean(name, known)}`);
}

/** The error for an unknown field in a condition or a sort key, with a hint when the name is a remote relation. */
function unaskable(scope: OperationScope, entity: AnyEntity, name: string, known: Iterable<string>): BadRequestError {
  const remote = explainRemote(
    scope.app.model.relation(entity, name.split(".", 1)[0] as string),
    scope.access.mask(entity),
  );
  return remote === undefined ? unknownField(entity, name, known) : new BadRequestError(remote);
}

/**
 * Checks a query against the limits and the caller's rights, and narrows conditions on related records to those the
 * caller may read. Every surface passes through it; the system does not.
 * @param bounded whether the limits have already been checked
 * @throws BadRequestError
 */
export function checkQuery(operation: Operation, bounded = false): OperationQuery | Promise<OperationQuery> {
  const { entity, scope } = operation;
  const query = searching(operation);
  if (!bounded && query.where !== undefined) checkWhereShape(query.where, mostParts(scope.app.limits));
  // Rights are checked first: an error about an operator or a value would reveal that the field exists.
  const decisions = decisionsOf(scope, entity, query);
  return decisions instanceof Promise
    ? decisions.then((known) => checked(operation, query, known, bounded))
    : checked(operation, query, decisions, bounded);
}

/** Adds the search to the query's condition, limited to fields that the caller may filter on. */
function searching({ entity, scope, query }: Operation): OperationQuery {
  if (query.search === undefined) return query;
  const mask = scope.principal.kind === "system" ? undefined : scope.access.mask(entity);
  return { ...query, where: allPresent(query.where, searchWhere(entity, query.search, mask?.filterable)) };
}

function checked(
  { entity, scope, kind }: Operation,
  query: OperationQuery,
  decisions: Decisions,
  bounded: boolean,
): OperationQuery {
  const mask = scope.access.mask(entity);
  const where = checkedWhere(scope, entity, query, decisions, bounded);
  const isOwn = (field: string): boolean =>
    mask.sortable.has(field) || (field === RANK && kind === "list" && isRanked(entity, query));
  const sort = query.sort?.every(({ field }) => isOwn(field))
    ? query.sort
    : query.sort?.map((key) => (isOwn(key.field) ? key : sortable(scope, entity, key, decisions)));
  for (const name of query.select ?? []) if (!mask.readable.has(name)) throw unknownField(entity, name, mask.readable);
  if (query.include !== undefined) checkInclude(scope, entity, query.include);
  return where === undefined && sort === query.sort ? query : { ...query, where: where ?? query.where, sort };
}

/**
 * Resolves the path of a sort key: belongsTo relations that the caller may follow, to a field that all records show.
 * Related records that the caller may not read sort like missing ones.
 * @throws BadRequestError, with the same message for unknown fields and for fields that the caller may not see
 */
function sortable(scope: OperationScope, entity: AnyEntity, key: SortKey, decisions: Decisions): SortKey {
  const names = key.field.split(".");
  const unknown = (): BadRequestError => unaskable(scope, entity, key.field, scope.access.mask(entity).sortable);
  let at = entity;
  const through = names.slice(0, -1).map((name): JoinedFind => {
    const relation = relationOf(scope, at, name);
    if (relation?.type !== "belongsTo" || !seesRelation(scope, relation)) throw unknown();
    const { allowed, guard, predicate } = decisions.get(relation.target) ?? {};
    const isHidden = scope.access.mask(at).readablePerRow?.has(relation.foreignKey ?? "");
    if (isHidden || !allowed || guard !== undefined) throw unknown();
    at = relation.target;
    return { relation, where: compileWhere(scope.app.model, at, predicate) };
  });
  const { includeDepth } = scope.app.limits;
  if (through.length > includeDepth) throw new BadRequestError(`"_sort" goes at most ${includeDepth} relations deep`);
  if (!scope.access.mask(at).sortable.has(names.at(-1) as string)) throw unknown();
  return through.length === 0 ? key : { ...key, through };
}

/** Narrows the caller's condition, so that it reveals nothing about records they may not see. */
function checkedWhere(
  scope: OperationScope,
  entity: AnyEntity,
  query: OperationQuery,
  decisions: Decisions,
  bounded: boolean,
): Condition | undefined {
  const { where } = query;
  const { model, limits } = scope.app;
  let isOpen = true;
  const rights: AskingRights = {
    column(at, name) {
      const { filterable, readablePerRow } = scope.access.mask(at);
      if (!filterable.has(name)) throw unaskable(scope, at, name, filterable);
      if (readablePerRow?.has(name)) isOpen = false;
      return undefined;
    },
    relation(at, name) {
      const relation = relationOf(scope, at, name);
      if (relation === undefined || !seesRelation(scope, relation) || decisions.get(relation.target)?.allowed !== true)
        throw unaskable(scope, at, name, scope.access.mask(at).filterable);
      isOpen = false;
      return undefined;
    },
  };
  const condition = compileWhere(model, entity, where, rights);
  if (!isOpen) checkPaths(condition);
  if (!bounded) checkLimits(query, condition, limits);
  if (where === undefined || isOpen) return where && condition;
  return compileWhere(model, entity, where, narrowing(scope, decisions));
}

/** Whether the caller may know which records are related: they must be allowed to filter on the foreign key. */
export function seesRelation(scope: OperationScope, relation: ResolvedRelation): boolean {
  const { type, source, target, foreignKey, remote } = relation;
  if (foreignKey === undefined || (remote !== undefined && type !== "belongsTo")) return true;
  return scope.access.mask(type === "belongsTo" ? source : target).filterable.has(foreignKey);
}

/**
 * Adds the rules' conditions wherever the condition uses related records, or fields and keys that only some records
 * show.
 */
function narrowing(scope: OperationScope, decisions: Decisions): AskingRights {
  const compiled = (at: AnyEntity, where: Where | undefined) => where && compileWhere(scope.app.model, at, where);
  const shownBy = (at: AnyEntity, name: string) => scope.access.mask(at).readablePerRow?.get(name)?.predicate;
  return {
    column: (at, name) => compiled(at, shownBy(at, name)),
    relation(at, name) {
      const relation = relationOf(scope, at, name);
      if (relation === undefined) return undefined;
      const { type, target, foreignKey = "" } = relation;
      const isOwnKey = type === "belongsTo";
      return {
        own: isOwnKey ? compiled(at, shownBy(at, foreignKey)) : undefined,
        related: compiled(
          target,
          allPresent(decisions.get(target)?.predicate, isOwnKey ? undefined : shownBy(target, foreignKey)),
        ),
      };
    },
  };
}

/** Narrows a query of the system, which may filter on everything, to related records that exist. */
export async function narrowQuery(operation: Operation): Promise<OperationQuery> {
  const { entity, scope } = operation;
  const query = searching(operation);
  const decisions = await decisionsOf(scope, entity, query);
  if (decisions.size === 0) return query;
  const where = compileWhere(scope.app.model, entity, query.where, narrowing(scope, decisions));
  const sort = query.sort?.map((key) => (key.field.includes(".") ? sortable(scope, entity, key, decisions) : key));
  return { ...query, where, sort };
}

const NO_DECISIONS: Decisions = new Map();

/** The caller's read decisions for the related entities in conditions and sort keys. Most queries use none. */
function decisionsOf(
  scope: OperationScope,
  entity: AnyEntity,
  { where, sort = [] }: OperationQuery,
): Decisions | Promise<Decisions> {
  const targets = new Set<AnyEntity>();
  collectTargets(scope, entity, where, targets);
  for (const { field } of sort) {
    if (!field.includes(".")) continue;
    const path = field.split(".").reduceRight<Where>((inner, name) => ({ [name]: inner }), {});
    collectTargets(scope, entity, path, targets);
  }
  return targets.size === 0 ? NO_DECISIONS : decideAll(scope, targets);
}

async function decideAll(scope: OperationScope, targets: ReadonlySet<AnyEntity>): Promise<Decisions> {
  const decisions = new Map<AnyEntity, Decision>();
  for (const target of targets) {
    scope.state.shown?.noteCount(target); // which records match depends on the related ones
    decisions.set(target, await scope.access.readDecision(target));
  }
  return decisions;
}

function checkInclude(scope: OperationScope, entity: AnyEntity, include: IncludeTree): void {
  for (const [name, inner] of Object.entries(include)) {
    const relation = Object.hasOwn(entity.relations, name) ? scope.app.model.relation(entity, name) : undefined;
    if (relation === undefined)
      throw new BadRequestError(
        `${entity.name} has no relation "${name}".${didYouMean(name, Object.keys(entity.relations))}`,
      );
    const asked = inner[INCLUDED];
    if (asked !== undefined) checkIncluded(relation, asked, scope.app.limits);
    checkInclude(scope, relation.target, inner);
  }
}

/** Checks the options of an include that the list of the related records does not check itself. */
function checkIncluded({ name, many, remote }: ResolvedRelation, asked: Included, limits: Limits): void {
  const { where, limit = 0, sort = [], count } = asked;
  if (remote !== undefined) throw new BadRequestError(`include of "${name}" takes no options: it is remote`);
  if (!many && (asked.limit !== undefined || sort.length > 0 || count))
    throw new BadRequestError(`include of "${name}" takes no limit, no sort and no count: there is one record`);
  if (limit > limits.includedRecords)
    throw new BadRequestError(`include of "${name}" has at most ${limits.includedRecords} records`);
  if (sort.some(({ field }) => field.includes(".")))
    throw new BadRequestError(`include of "${name}" is sorted by fields of its own records`);
  if (sort.length > limits.sortKeys) throw new BadRequestError(`A query takes at most ${limits.sortKeys} sort keys`);
  checkWhereShape(where, mostParts(limits));
}

/** The relation with this name; undefined for columns, remote relations and unknown names. */
function relationOf(scope: OperationScope, entity: AnyEntity, name: string): ResolvedRelation | undefined {
  if (Object.hasOwn(entity.columns, name)) return undefined;
  const relation = scope.app.model.relation(entity, name);
  return relation?.remote === undefined ? relation : undefined;
}

/** Collects the related entities that a `where` uses. */
function collectTargets(scope: OperationScope, entity: AnyEntity, where: unknown, targets: Set<AnyEntity>): void {
  if (typeof where !== "object" || where === null) return;
  for (const [name, value] of Object.entries(where)) {
    if (logicOf(entity, name) !== undefined) {
      for (const part of Array.isArray(value) ? value : [value]) collectTargets(scope, entity, part, targets);
      continue;
    }
    const relation = relationOf(scope, entity, name);
    if (relation === undefined) continue;
    const { target } = relation;
    targets.add(target);
    for (const inner of quantifiersOf(relation, value)?.map(([, where]) => where) ?? [value])
      collectTargets(scope, target, inner, targets);
  }
}

/**
 * Explains why a remote relation cannot be used to filter or sort, and what to use instead: its records are fetched
 * after the list.
 * @returns undefined for other relations, and for callers who may not know about the relation
 */
export function explainRemote(relation: ResolvedRelation | undefined, mask: FieldMask): string | undefined {
  const { name, remote, foreignKey } = relation ?? {};
  if (remote === undefined || foreignKey === undefined || !mask.filterable.has(foreignKey)) return undefined;
  return `"${name}" is remote: it is fetched after the query, so nothing can be filtered or sorted by it. "${foreignKey}" can be.`;
}
