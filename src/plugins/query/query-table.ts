import {
  type AnyEntity,
  type ColumnDefinition,
  type EntityModel,
  isObject,
  type JsonPath,
  type Operator,
  type ResolvedRelation,
  SUFFIXES,
} from "../../entity/index.ts";
import { type FieldMask, logicOf, type OperationScope, quantifiersOf, seesRelation } from "../../gate/index.ts";
import { BadRequestError, type Limits, type QueryParameters, shownName } from "../../kernel/index.ts";

/** One meaning of a parameter's name: a condition on a column. */
export interface Filter {
  readonly column: ColumnDefinition;
  readonly operator: Operator;
  /** The path into a JSON column. */
  readonly path?: JsonPath | undefined;
}

/** The query parameters of an entity, independent of the caller. */
export interface QueryTable {
  readonly entity: AnyEntity;
  /** Meanings of a name, the exact field name first (`foo_ne` may be a field, or `foo` with an operator). */
  readonly filters: ReadonlyMap<string, readonly Filter[]>;
  /** Columns that `q` searches. */
  readonly searchable: readonly string[];
  readonly relations: ReadonlyMap<string, ResolvedRelation>;
}

/** The parameter for deleted records. It is unknown on entities without soft deletion. */
export const DELETED = "_deleted";

/** The parameter that adds highlighted search results. */
export const HIGHLIGHT = "_highlight";

/** Computes the parameter names of an entity, once per entity when the app starts. */
export function compileQueryTable(model: EntityModel, entity: AnyEntity): QueryTable {
  const columns = Object.values(entity.columns);
  const filters = new Map<string, Filter[]>();
  const add = (name: string, filter: Filter): void => {
    filters.set(name, [...(filters.get(name) ?? []), filter]);
  };
  for (const column of columns) add(column.name, { column, operator: "eq" });
  for (const column of columns)
    for (const operator of SUFFIXES) add(`${column.name}_${operator}`, { column, operator });
  return Object.freeze({
    entity,
    filters,
    searchable: columns.filter(({ kind }) => kind.searchable).map(({ name }) => name),
    relations: new Map(model.relationsOf(entity).map((relation) => [relation.name, relation])),
  });
}

/** The most levels of conditions and paths of relations, independent of an app's limits. */
export const MOST_LEVELS = 16;

/** An entity with the caller's access to it. */
export interface Subject {
  readonly table: QueryTable;
  readonly mask: FieldMask;
  /** Related entities that conditions may read, for the relations that the query names. */
  readonly targets: ReadonlyMap<string, Subject>;
}

/** One query string being read for one caller. */
export interface Reading extends Subject {
  readonly parameters: QueryParameters;
  readonly limits: Limits;
  /** Parameter names with a special meaning that this route accepts. */
  readonly controls: ReadonlySet<string>;
  /** Whether this route accepts conditions. */
  readonly filters: boolean;
  readonly problems: { readonly parameter: string; readonly message: string }[];
}

/** The most problems that are reported for one query. */
const MOST_PROBLEMS = 8;

/** Adds a problem. All problems are reported together. */
export function addProblem(reading: Reading, parameter: string, message: string): void {
  reading.problems.push({ parameter: shownName(parameter), message });
  if (reading.problems.length >= MOST_PROBLEMS) throwProblems(reading);
}

/** @throws BadRequestError if there are problems */
export function throwProblems({ problems }: Reading): void {
  if (problems.length === 0) return;
  throw new BadRequestError(problems.map(({ message }) => message).join(" "), { details: problems });
}

/** The value of a parameter that may be given once; undefined when it is absent or empty. */
export function single(reading: Reading, name: string): string | undefined {
  const values = reading.parameters.get(name);
  if (values === undefined || !reading.controls.has(name)) return undefined;
  if (values.length > 1) addProblem(reading, name, `"${name}" is given more than once.`);
  return values[0] === "" ? undefined : values[0];
}

/** The items of a comma-separated parameter, in order. The parameter may be repeated. */
export function items(reading: Reading, name: string): readonly string[] {
  if (!reading.controls.has(name)) return [];
  const values = reading.parameters.get(name) ?? [];
  return values.flatMap((value) => value.split(",").map((item) => item.trim())).filter((item) => item !== "");
}

/** The relations of an entity that the caller may see. */
export function seenRelations(table: QueryTable | undefined, scope: OperationScope): readonly ResolvedRelation[] {
  return [...(table?.relations.values() ?? [])].filter((relation) => seesRelation(scope, relation));
}

/** Names of fields and relations, with their conditions. */
export type Named = Readonly<Record<string, unknown>>;

/**
 * The named relations that conditions may read. If the caller may not read one of them, all relations are returned, so
 * that suggestions do not depend on whether that relation exists.
 * @param named the conditions on records of the table; all conditions on one relation count together
 */
export async function readableTargets(
  named: readonly Named[],
  table: QueryTable,
  scope: OperationScope,
  tables: ReadonlyMap<AnyEntity, QueryTable>,
  level = 1,
): Promise<ReadonlyMap<string, Subject>> {
  const asked = new Map<string, Named[]>();
  for (const one of named) collectRelations(one, table, scope, asked);
  if (asked.size === 0 || level > MOST_LEVELS) return NO_TARGETS;
  const found = await targetsOf(asked.keys(), table, scope, tables);
  const all = found.size === asked.size ? found : await targetsOf(table.relations.keys(), table, scope, tables);
  const targets = new Map<string, Subject>();
  for (const [name, subject] of all) {
    const inner = await readableTargets(asked.get(name) ?? [], subject.table, scope, tables, level + 1);
    targets.set(name, { ...subject, targets: inner });
  }
  return targets;
}

const NO_TARGETS: ReadonlyMap<string, Subject> = new Map();

/** Collects names that may be relations: all names except logical operators and filterable fields. */
function collectRelations(named: Named, table: QueryTable, scope: OperationScope, found: Map<string, Named[]>): void {
  const { filterable } = scope.access.mask(table.entity);
  for (const [name, value] of Object.entries(named)) {
    const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (logicOf(table.entity, name) !== undefined) {
      for (const part of parts) if (isObject(part)) collectRelations(part, table, scope, found);
    } else if (!filterable.has(name)) {
      const relation = table.relations.get(name);
      const inner = relation && quantifiersOf(relation, value)?.map(([, where]) => where);
      found.set(name, [...(found.get(name) ?? []), ...(inner ?? parts).filter(isObject)]);
    }
  }
}

/** The relations among some names that the caller may read through. */
export async function targetsOf(
  names: Iterable<string>,
  table: QueryTable,
  scope: OperationScope,
  tables: ReadonlyMap<AnyEntity, QueryTable>,
): Promise<ReadonlyMap<string, Subject>> {
  const targets = new Map<string, Subject>();
  for (const name of names) {
    const relation = table.relations.get(name);
    const target = relation === undefined ? undefined : tables.get(relation.target);
    if (relation === undefined || target === undefined || relation.remote || !seesRelation(scope, relation)) continue;
    if ((await scope.access.readDecision(relation.target)).allowed)
      targets.set(name, { table: target, mask: scope.access.mask(relation.target), targets: NO_TARGETS });
  }
  return targets;
}

/** The relations of an entity that the caller may include. */
export async function includable(
  table: QueryTable | undefined,
  scope: OperationScope,
): Promise<readonly ResolvedRelation[]> {
  const seen = seenRelations(table, scope);
  // Other services decide themselves who may read their records.
  const allowed = await Promise.all(
    seen.map(async ({ remote, target }) => remote !== undefined || (await scope.access.readDecision(target)).allowed),
  );
  return seen.filter((_, index) => allowed[index]);
}
