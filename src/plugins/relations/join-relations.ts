import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import {
  allOf,
  COUNTS,
  compileWhere,
  type HookFunction,
  INCLUDED,
  type Included,
  type IncludeTree,
  includedBytes,
  type JoinedFind,
  mostRowBytes,
  type Operation,
  type OperationKind,
  type OperationScope,
  type Row,
  satisfiesAlone,
  seesRelation,
} from "../../gate/index.ts";
import { BadRequestError, routeSegment } from "../../kernel/index.ts";
import { takeRepeated } from "./repeated-records.ts";

/**
 * Reads included to-one relations in the statement of a list, if the result is the same as with a separate list: the
 * rules on the related records are one predicate, and no plugin handles such records. Other relations are joined
 * afterwards.
 */
export const joinInStatement: HookFunction<"operation:plan"> = (operation) => {
  const { include } = operation.query;
  if (include !== undefined) return chooseJoins(operation, include);
};

async function chooseJoins(operation: Operation, include: IncludeTree): Promise<void> {
  const { scope, entity, query } = operation;
  const { pageSize, includedRecords, pageBytes } = scope.app.limits;
  const limit = query.limit ?? pageSize;
  if (limit > includedRecords) return;
  const joins: JoinedFind[] = [];
  for (const [name, inner] of Object.entries(include)) {
    const relation = scope.app.model.relation(entity, name);
    const isPlain = Object.keys(inner).length === 0 && inner[INCLUDED] === undefined;
    if (relation === undefined || !isPlain || !isJoinable(scope, relation)) continue;
    // A statement repeats a related record for each record that refers to it, and does not count its bytes.
    if (mostRowBytes(relation.target) * limit > pageBytes / 2) continue;
    const { allowed, guard, predicate } = await scope.access.readDecision(relation.target);
    if (allowed && guard === undefined)
      joins.push({ relation, where: compileWhere(scope.app.model, relation.target, predicate) });
  }
  if (joins.length > 0) operation.joins = joins;
}

function isJoinable(scope: OperationScope, relation: ResolvedRelation): boolean {
  const { type, remote, source, target, foreignKey = "" } = relation;
  if (type !== "belongsTo" || remote !== undefined || !seesRelation(scope, relation)) return false;
  if (scope.access.mask(source).readablePerRow?.has(foreignKey)) return false;
  return scope.access.listsPlainly(target);
}

/** Whether lists of an entity may read related records in their own statement. */
export function canJoin({ relations }: AnyEntity, kind: OperationKind): boolean {
  const isOwn = ({ type, remote }: (typeof relations)[string]): boolean => type === "belongsTo" && remote === undefined;
  return kind === "list" && Object.values(relations).some(isOwn);
}

/** The join of one relation to some records. */
interface Join {
  readonly operation: Operation;
  /** The records whose relation the statement has not read. */
  readonly records: readonly Row[];
  readonly relation: ResolvedRelation;
  /** The relations to include in the related records. */
  readonly inner: IncludeTree;
  /** Options of the include, which select the related records. */
  readonly asked: Included;
}

/** Returns the value of the relation for a record. */
type Related = (record: Row) => Row | readonly Row[] | null;

/**
 * Adds included relations to records, with one list per relation and level, independent of the number of records. The
 * lists run as the same caller, so the target's read rule and field mask apply at every level. Hidden and missing
 * records are `null`, or left out of lists.
 */
export const joinRelations: HookFunction<"operation:join"> = (operation) => {
  const { include } = operation.query;
  if (include === undefined || operation.records.length === 0) return;
  return joinAll(operation, include);
};

async function joinAll(operation: Operation, include: IncludeTree): Promise<void> {
  const { scope, entity, records } = operation;
  const counts = await Promise.all(
    Object.entries(include).map(async ([name, inner]) => {
      const relation = scope.app.model.relation(entity, name);
      if (relation === undefined || relation.remote !== undefined) return;
      const asked = inner[INCLUDED] ?? {};
      if (asked.where === undefined)
        scope.state.shown?.noteEntity(relation.target); // the relation may be empty
      else scope.state.shown?.noteCount(relation.target); // which records match depends on what the caller may read
      const isRead = operation.joins?.some((join) => join.relation === relation) === true;
      const others = isRead ? records.filter((record) => record[name] === undefined) : records;
      if (others.length === 0) return;
      const join = { operation, records: others, relation, inner, asked };
      const [related, count] = await Promise.all([findRelated(join), countRelated(join)]);
      if (!takeRepeated(join, related)) throw tooMuch(join, `${scope.app.limits.pageBytes / 2} bytes`);
      for (const record of others) record[name] = related(record);
      return count && { name, others, count };
    }),
  );
  // In the order of the request, whichever was known first: equal responses have equal entity tags.
  for (const counted of counts) {
    if (counted === undefined) continue;
    const { name, others, count } = counted;
    for (const record of others) record[COUNTS] = { ...(record[COUNTS] as object), [name]: count(record) };
  }
}

async function findRelated(join: Join): Promise<Related> {
  const { relation, operation } = join;
  const { scope } = operation;
  const readable = seesRelation(scope, relation) && (await scope.access.readDecision(relation.target)).allowed;
  if (!readable) return () => (relation.many ? [] : null);
  switch (relation.type) {
    case "belongsTo":
      return belongsTo(join, relation.foreignKey as string);
    case "manyToMany":
      return manyToMany(join);
    default:
      return pointingHere(join, relation.foreignKey as string);
  }
}

/** Joins the records to which the foreign keys of these records refer. */
async function belongsTo(join: Join, key: string): Promise<Related> {
  const { entity, scope } = join.operation;
  const access = scope.access.mask(entity).readablePerRow?.get(key);
  const keyOf = (record: Row): unknown =>
    access === undefined || satisfiesAlone(scope, entity, record, access) === true ? record[key] : undefined;
  const ids = join.records.map(keyOf).filter((id): id is string => typeof id === "string");
  const byId = indexById(await listTargets(join, "id", ids));
  return (record) => byId.get(keyOf(record)) ?? null;
}

/** Joins the records that refer to these records: hasMany and hasOne. */
async function pointingHere(join: Join, key: string): Promise<Related> {
  const { records, relation } = join;
  const groups = new Map<unknown, Row[]>();
  const { limit, select } = join.asked;
  for (const row of await listTargets(join, key, records.map(idOf), limit)) {
    const group = groups.get(row[key]);
    if (group === undefined) groups.set(row[key], [row]);
    else if (limit === undefined || group.length < limit) group.push(row);
    if (select?.includes(key) === false) delete row[key];
  }
  return (record) => {
    const group = groups.get(record.id) ?? [];
    return relation.many ? group : (group[0] ?? null);
  };
}

/**
 * Joins the records of manyToMany pairs. The number of pairs is limited before the records are read; pairs whose target
 * the read rule hides do not count. Targets that are hidden by other conditions of plugins do count, so a caller who
 * gets an error may learn that some exist.
 */
async function manyToMany(join: Join): Promise<Related> {
  const { operation, records, relation } = join;
  const { scope, entity } = operation;
  const most = scope.app.limits.includedRecords;
  const { predicate: where } = await scope.access.readDecision(relation.target);
  const links = await scope.driver.links(entity, relation.name, records.map(idOf), { where, limit: most + 1 });
  if (links.length > most) throw tooMuch(join, `${most} records`);
  const ids = links.map(({ target }) => target);
  const rows = await listTargets(join, "id", ids);
  const groups = new Map<unknown, Row[]>(operation.records.map((record) => [record.id, []]));
  const sources = new Map<unknown, string[]>();
  for (const { source, target } of links) sources.set(target, [...(sources.get(target) ?? []), source]);
  // Groups follow the order of the list, which is by id unless the include sorts.
  for (const row of rows) for (const source of sources.get(row.id) ?? []) groups.get(source)?.push(row);
  return (record) => groups.get(record.id)?.slice(0, join.asked.limit) ?? [];
}

/** The number of related records per record that the caller may read; undefined unless the include counts. */
async function countRelated(join: Join): Promise<((record: Row) => number) | undefined> {
  const { operation, relation, records, asked } = join;
  if (!asked.count) return undefined;
  const { scope, entity } = operation;
  scope.state.shown?.noteCount(relation.target);
  const ids = records.map(idOf);
  const counts = new Map<unknown, number>();
  const { allowed, predicate } = await scope.access.readDecision(relation.target);
  const readable = seesRelation(scope, relation) && allowed;
  if (readable && relation.type === "manyToMany") {
    const most = scope.app.limits.includedRecords;
    const links = await scope.driver.links(entity, relation.name, ids, { where: predicate, limit: most + 1 });
    if (links.length > most) throw tooMuch(join, `${most} records`);
    const query = { where: allOf({ id: { in: links.map(({ target }) => target) } }, asked.where), select: ["id"] };
    const limit = links.length;
    const { records: shown } = await scope.run({
      kind: "list",
      entity: relation.target,
      query: { ...query, limit },
      bounded: true,
    });
    const visible = new Set(shown.map(({ id }) => id));
    for (const { source, target } of links) if (visible.has(target)) counts.set(source, (counts.get(source) ?? 0) + 1);
  } else if (readable) {
    const key = relation.foreignKey as string;
    const { maxPageSize: limit } = scope.app.limits;
    for (let start = 0; start < ids.length; start += limit) {
      const where = allOf({ [key]: { in: ids.slice(start, start + limit) } }, asked.where);
      const query = { where, aggregate: { group: [key], count: true, limit, hidesSmall: false } };
      const { groups = [] } = await scope.run({ kind: "count", entity: relation.target, query, bounded: true });
      for (const group of groups) counts.set(group[key], group.count as number);
    }
  }
  return (record) => counts.get(record.id) ?? 0;
}

/** Lists related records that the caller may read, up to the limits of an include. */
async function listTargets(
  join: Join,
  column: string,
  values: readonly string[],
  each?: number,
): Promise<readonly Row[]> {
  const { operation, relation, inner, asked } = join;
  const distinct = [...new Set(values)];
  if (distinct.length === 0) return [];
  const { scope } = operation;
  const most = scope.app.limits.includedRecords;
  const include = Object.keys(inner).length === 0 ? undefined : inner;
  const { textMoments } = operation.query;
  const query = {
    where: allOf({ [column]: { in: distinct } }, asked.where),
    sort: asked.sort,
    limit: most + 1,
    perParent: each === undefined ? undefined : { column, limit: each },
    select: asked.select && [...new Set([...asked.select, column])],
    include,
    textMoments,
  };
  const bytes = includedBytes(operation);
  const { records } = await scope.run({ kind: "list", entity: relation.target, query, bounded: true, bytes });
  if (records.length > most) throw tooMuch(join, `${most} records`);
  if (bytes?.isCut) throw tooMuch(join, `${scope.app.limits.pageBytes / 2} bytes`);
  return records;
}

function tooMuch({ relation }: Join, most: string): BadRequestError {
  return new BadRequestError(`Including "${relation.name}" would bring more than ${most}; ${advice(relation)}.`);
}

/** Suggests a list that pages through the related records of one record, if there is one. */
function advice({ type, target, source, foreignKey, inverse }: ResolvedRelation): string {
  const filter = type === "manyToMany" && inverse !== undefined ? `${inverse}.id` : foreignKey;
  if (type === "belongsTo" || target.internal || filter === undefined) return "ask for fewer records at once";
  return `page through /${routeSegment(target)}?${filter}=<id of the ${source.name}>`;
}

function indexById(rows: readonly Row[]): ReadonlyMap<unknown, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}

function idOf(record: Row): string {
  return record.id as string;
}

/** Whether an operation returns records of an entity with relations in the app's own database. */
export function givesRelations(entity: AnyEntity, kind: OperationKind): boolean {
  if (kind === "count" || kind === "delete") return false;
  return Object.values(entity.relations).some(({ remote }) => remote === undefined);
}
