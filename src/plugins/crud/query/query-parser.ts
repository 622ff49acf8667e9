import type { AnyEntity, EntityModel } from "../../../entity/index.ts";
import {
  EntityNotFoundError,
  type OperationQuery,
  type OperationScope,
  type ParseQuery,
  type QueryParameters,
  type QueryParser,
  type QueryPart,
  readParameters,
} from "../../../kernel/index.ts";
import { readConditions } from "./conditions.ts";
import { DELETED, readDeleted } from "./deleted.ts";
import { describeQuery } from "./describe-query.ts";
import { includable } from "./includable.ts";
import { readPage } from "./page.ts";
import { compileQueryTable, type QueryTable } from "./query-table.ts";
import { readableTargets } from "./readable-targets.ts";
import { type Reading, type Subject, throwProblems } from "./reading.ts";
import { RepeatedQueries } from "./repeated-queries.ts";
import { readInclude, readSelect } from "./shape.ts";
import { readSort } from "./sort.ts";

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
