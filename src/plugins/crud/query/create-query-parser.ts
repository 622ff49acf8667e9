import { LRUCache } from "lru-cache";
import type { AnyEntity, EntityModel } from "../../../entity/index.ts";
import {
  explainRemote,
  type FieldMask,
  type OperationQuery,
  type OperationScope,
  type ParseQuery,
  type QueryParser,
  type QueryPart,
  type SortKey,
} from "../../../gate/index.ts";
import {
  didYouMean,
  EntityNotFoundError,
  type QueryParameters,
  readParameters,
  shownName,
} from "../../../kernel/index.ts";
import { readConditions } from "./conditions.ts";
import { DELETED, readDeleted } from "./deleted.ts";
import { describeQuery } from "./describe-query.ts";
import { includable } from "./includable.ts";
import { readPage } from "./page.ts";
import { compileQueryTable, type QueryTable } from "./query-table.ts";
import { readableTargets } from "./readable-targets.ts";
import { addProblem, type Reading, type Subject, single, throwProblems } from "./reading.ts";
import { readInclude, readSelect } from "./shape.ts";

/** Query strings of one parser that are kept, and how long one may be: pages ask for the same lists again and again. */
const MOST = 1_000;
const LONGEST = 512;

interface Kept {
  /** What it was read for; another caller may not be able to use the same names. */
  readonly mask: FieldMask;
  readonly query: Readonly<OperationQuery>;
}

/**
 * What query strings mean, for those that mean the same to everybody: no field of their entity depends on the caller, and they
 * name no relation, of which others may see less. What is kept cannot be changed, and whoever asks gets a query of their own.
 */
class RepeatedQueries {
  readonly #kept = new LRUCache<string, Kept>({ max: MOST });

  find(search: string, entity: AnyEntity, scope: OperationScope): OperationQuery | undefined {
    if (search.length > LONGEST) return undefined;
    const kept = this.#kept.get(keyOf(search, entity));
    return kept?.mask === scope.mask(entity) ? { ...kept.query } : undefined;
  }

  /** @returns the query */
  keep(search: string, entity: AnyEntity, scope: OperationScope, query: OperationQuery): OperationQuery {
    if (search.length > LONGEST || query.include !== undefined || scope.masked.includes(entity)) return query;
    if (hasMoments(query.where)) return query; // nothing keeps a moment from being changed
    this.#kept.set(keyOf(search, entity), { mask: scope.mask(entity), query: frozen({ ...query }) });
    return query;
  }
}

function keyOf(search: string, { name }: AnyEntity): string {
  return `${name}?${search}`;
}

function hasMoments(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof Date || Object.values(value).some(hasMoments);
}

function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}

const CONTROLS: Readonly<Record<QueryPart, readonly string[]>> = {
  filter: ["q", DELETED],
  sort: ["_sort", "_order"],
  page: ["_page", "_limit", "_start", "_end", "_after", "_total"],
  shape: ["include", "_embed", "select"],
  select: ["select"],
  deleted: [DELETED],
};

/** Compiles the parameter names of all entities; done when the app starts. */
export function createQueryParser(model: EntityModel): QueryParser {
  const all = [...model.entities, ...model.foreign]; // includes lead to entities of other services
  const tables = new Map(all.map((entity) => [entity, compileQueryTable(model, entity)]));
  // Surfaces may ask for theirs with every request.
  const made = new Map<string, ParseQuery>();
  return Object.freeze({
    reads(parts: readonly QueryPart[], others: readonly string[] = []) {
      const key = `${parts} ${others}`;
      const parse = made.get(key) ?? createParse(tables, new Set(parts), others);
      made.set(key, parse);
      return parse;
    },
    async describe(parts: readonly QueryPart[], entity: AnyEntity, scope: OperationScope) {
      const table = tables.get(entity);
      return table === undefined ? [] : await describeQuery(new Set(parts), table, scope, tables);
    },
    includes: (entity: AnyEntity, scope: OperationScope) => includable(tables.get(entity), scope),
  });
}

function createParse(
  tables: ReadonlyMap<AnyEntity, QueryTable>,
  parts: ReadonlySet<QueryPart>,
  others: readonly string[],
): ParseQuery {
  const controls = new Set([...[...parts].flatMap((part) => CONTROLS[part]), ...others]);
  const withoutDeleted = new Set([...controls].filter((name) => name !== DELETED));
  const paged = parts.has("page");
  const repeated = new RepeatedQueries();

  function build(
    parameters: QueryParameters,
    table: QueryTable,
    scope: OperationScope,
    targets: ReadonlyMap<string, Subject>,
  ): OperationQuery {
    const { limits } = scope;
    const mask = scope.mask(table.entity);
    const reading: Reading = {
      table,
      mask,
      parameters,
      limits,
      targets,
      controls: table.entity.softDelete === undefined ? withoutDeleted : controls,
      filters: parts.has("filter"),
      problems: [],
    };
    const { where, ids } = readConditions(reading);
    const query: OperationQuery = {
      where,
      sort: readSort(reading),
      ...(paged ? readPage(reading, ids) : {}),
      deleted: readDeleted(reading),
      include: readInclude(reading, scope, (entity) => tables.get(entity)),
      select: readSelect(reading),
    };
    throwProblems(reading);
    return query;
  }

  return (search, entity, scope) => {
    if (search === "") return paged ? { limit: scope.limits.pageSize, total: true } : {};
    const table = tables.get(entity);
    if (table === undefined) throw new EntityNotFoundError();
    const known = repeated.find(search, entity, scope);
    if (known !== undefined) return known;
    const parameters = readParameters(search, scope.limits.parameters);
    const named = relationsNamed(parameters);
    if (named.length === 0 || !parts.has("filter"))
      return repeated.keep(search, entity, scope, build(parameters, table, scope, new Map()));
    return readableTargets(named, table, scope, tables).then((targets) => build(parameters, table, scope, targets));
  };
}

/** Relations that dotted parameters name, known or not. */
function relationsNamed(parameters: QueryParameters): readonly string[] {
  const named = new Set<string>();
  for (const name of parameters.keys()) {
    const dot = name.indexOf(".");
    if (dot !== -1) named.add(name.slice(0, dot));
  }
  return [...named];
}

/** Reads the order: `_sort=a,-b`, or `_sort=a,b&_order=asc,desc` as json-server has it. */
function readSort(reading: Reading): readonly SortKey[] | undefined {
  const text = single(reading, "_sort");
  const orders = readOrders(reading);
  if (text === undefined) {
    if (orders !== undefined) addProblem(reading, "_order", '"_order" needs "_sort".');
    return undefined;
  }
  const names = text.split(",");
  if (names.length > reading.limits.sortKeys)
    addProblem(reading, "_sort", `"_sort" takes at most ${reading.limits.sortKeys} fields.`);
  if (orders !== undefined && orders.length > names.length)
    addProblem(reading, "_order", '"_order" names more directions than "_sort" fields.');
  const keys: SortKey[] = [];
  for (const [index, item] of names.entries()) {
    const minus = item.startsWith("-");
    const field = minus ? item.slice(1) : item;
    if (!reading.mask.sortable.has(field)) addProblem(reading, "_sort", unknownKey(reading, field));
    else if (keys.some((key) => key.field === field)) addProblem(reading, "_sort", `"_sort" names "${field}" twice.`);
    else if (minus && orders !== undefined)
      addProblem(reading, "_sort", `Say the direction of "${field}" with "-" or with "_order", not both.`);
    keys.push({ field, direction: minus ? "desc" : (orders?.[index] ?? "asc") });
  }
  return keys;
}

function unknownKey({ table, mask }: Reading, name: string): string {
  const remote = explainRemote(table.relations.get(name.split(".", 1)[0] as string), mask);
  return remote ?? `There is no field "${shownName(name)}" to sort by.${didYouMean(name, mask.sortable)}`;
}

function readOrders(reading: Reading): readonly SortKey["direction"][] | undefined {
  return single(reading, "_order")
    ?.split(",")
    .map((word) => {
      const direction = word.toLowerCase();
      if (direction === "asc" || direction === "desc") return direction;
      addProblem(reading, "_order", '"_order" takes asc and desc.');
      return "asc";
    });
}
