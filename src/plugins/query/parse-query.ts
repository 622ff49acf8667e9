import type { AnyEntity, EntityModel } from "../../entity/index.ts";
import {
  explainRemote,
  type IncludeTree,
  isSearchable,
  type OperationQuery,
  type OperationScope,
  orderOfSearch,
  type ParseQuery,
  type QueryParser,
  type QueryPart,
  RANK,
  type RouteReader,
  type SortKey,
} from "../../gate/index.ts";
import {
  didYouMean,
  EntityNotFoundError,
  type QueryParameters,
  readParameters,
  shownName,
} from "../../kernel/index.ts";
import { readConditions } from "./conditions.ts";
import { describeQuery } from "./describe-query.ts";
import { isJsonInclude, readInclude, readJsonInclude } from "./include-query.ts";
import {
  addProblem,
  compileQueryTable,
  DELETED,
  HIGHLIGHT,
  includable,
  items,
  MOST_LEVELS,
  type Named,
  type QueryTable,
  type Reading,
  readableTargets,
  single,
  throwProblems,
} from "./query-table.ts";
import { AGGREGATE, readAggregate } from "./read-aggregate.ts";
import { readPage } from "./read-page.ts";
import { RepeatedQueries } from "./repeated-queries.ts";
import { parseTree, WHERE } from "./where-tree.ts";

const CONTROLS: Readonly<Record<QueryPart, readonly string[]>> = {
  filter: ["q", WHERE, DELETED],
  sort: ["_sort", "_order"],
  page: ["_page", "_limit", "_start", "_end", "_after", "_total", HIGHLIGHT],
  shape: ["include", "_embed", "select"],
  select: ["select"],
  deleted: [DELETED],
  aggregate: AGGREGATE,
};

/** Compiles the parameter names of all entities when the app starts. */
export function createQueryParser(model: EntityModel): QueryParser {
  const all = [...model.entities, ...model.foreign]; // includes can lead to entities of other services
  const tables = new Map(all.map((entity) => [entity, compileQueryTable(model, entity)]));
  // Cached, because routes may ask for their parser with every request.
  const made = new Map<string, ParseQuery>();
  return Object.freeze({
    reads(parts: readonly QueryPart[], others: readonly string[] = []) {
      const key = `${parts} ${others}`;
      const parse = made.get(key) ?? createParse(tables, new Set(parts), others);
      made.set(key, parse);
      return parse;
    },
    async describe(
      parts: readonly QueryPart[],
      entity: AnyEntity,
      scope: OperationScope,
      record?: RouteReader["record"],
    ) {
      const table = tables.get(entity);
      return table === undefined ? [] : await describeQuery(new Set(parts), { table, scope, tables, record });
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
  const aggregates = parts.has("aggregate");
  const repeated = new RepeatedQueries();

  function readingOf(parameters: QueryParameters, table: QueryTable, scope: OperationScope): Reading {
    return {
      table,
      mask: scope.access.mask(table.entity),
      parameters,
      limits: scope.app.limits,
      targets: new Map(),
      controls: table.entity.softDelete === undefined ? withoutDeleted : controls,
      filters: parts.has("filter"),
      problems: [],
    };
  }

  function build(reading: Reading, include: () => IncludeTree | undefined): OperationQuery {
    const { where, search, ids } = readConditions(reading);
    const deleted = readDeleted(reading);
    const query: OperationQuery = aggregates
      ? { where, search, aggregate: readAggregate(reading), deleted }
      : {
          where,
          ...(search === undefined ? {} : { search }),
          sort: paged
            ? orderOfSearch(reading.table.entity, { search, sort: readSort(reading, true, search) })
            : readSort(reading, false),
          ...(paged ? readPage(reading, ids) : {}),
          ...(paged && readHighlight(reading) ? { highlight: true } : {}),
          deleted,
          include: include(),
          select: readSelect(reading),
        };
    throwProblems(reading);
    return query;
  }

  async function buildOfRelated(
    reading: Reading,
    named: readonly Named[],
    scope: OperationScope,
  ): Promise<OperationQuery> {
    const targets = await readableTargets(named, reading.table, scope, tables);
    const all: Reading = { ...reading, targets };
    if (!isJsonInclude(all)) return build(all, () => readInclude(all, scope, tables));
    const include = await readJsonInclude(all, scope, tables);
    return build(all, () => include);
  }

  return (search, entity, scope) => {
    if (search === "" && !aggregates) return paged ? { limit: scope.app.limits.pageSize, total: true } : {};
    const table = tables.get(entity);
    if (table === undefined) throw new EntityNotFoundError();
    const known = repeated.find(search, entity, scope);
    if (known !== undefined) return known;
    const parameters = readParameters(search, scope.app.limits.parameters);
    const reading = readingOf(parameters, table, scope);
    const named = reading.filters ? conditionsNamed(parameters) : [];
    if (named.length > 0 || isJsonInclude(reading)) return buildOfRelated(reading, named, scope);
    return repeated.keep(
      search,
      entity,
      scope,
      build(reading, () => readInclude(reading, scope, tables)),
    );
  };
}

/** Conditions that may lead to related records: parameters with a path, and the conditions in `_where`. */
function conditionsNamed(parameters: QueryParameters): readonly Named[] {
  const named: Named[] = [];
  for (const name of parameters.keys()) {
    if (!name.includes(".")) continue;
    const [first = name, ...rest] = name.split(".").slice(0, MOST_LEVELS + 1);
    named.push({ [first]: rest.reduceRight<Named>((inner, part) => ({ [part]: inner }), {}) });
  }
  const tree = parseTree(parameters.get(WHERE)?.[0]);
  return tree === undefined ? named : [...named, tree];
}

/**
 * Reads the sort keys: `_sort=a,-b`, or `_sort=a,b&_order=asc,desc` as in json-server.
 * @param takesPaths whether fields of related records are allowed
 */
function readSort(reading: Reading, takesPaths: boolean, search?: string): readonly SortKey[] | undefined {
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
    const isRank = field === RANK && search !== undefined && isSearchable(reading.table.entity);
    // The gate checks paths, because it knows which related records the caller may read.
    const isPath = takesPaths && field.includes(".");
    if (!isRank && !isPath && !reading.mask.sortable.has(field))
      addProblem(reading, "_sort", unknownKey(reading, field));
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

function readHighlight(reading: Reading): boolean {
  const word = single(reading, HIGHLIGHT);
  if (word !== undefined && word !== "true" && word !== "false")
    addProblem(reading, HIGHLIGHT, `"${HIGHLIGHT}" takes true and false.`);
  return word === "true";
}

/** Reads whether the query includes soft-deleted records, or returns only these. */
function readDeleted(reading: Reading): OperationQuery["deleted"] {
  const word = single(reading, DELETED);
  if (word === undefined || word === "with" || word === "only") return word;
  addProblem(reading, DELETED, `"${DELETED}" takes the values with and only.`);
  return undefined;
}

/** Reads `select=id,title`. */
function readSelect(reading: Reading): readonly string[] | undefined {
  const names = items(reading, "select");
  if (names.length === 0) return undefined;
  const { readable } = reading.mask;
  for (const name of names)
    if (!readable.has(name))
      addProblem(reading, "select", `There is no field "${shownName(name)}" to select.${didYouMean(name, readable)}`);
  return [...new Set(names)];
}
