import { type AnyEntity, isKeelsonError, type JsonSchema, jsonSchemaOf, type Operator } from "../../entity/index.ts";
import { isSearchable, type OperationScope, type ParameterDescription, type QueryPart } from "../../gate/index.ts";
import type { Limits } from "../../kernel/index.ts";
import { describeAggregate } from "./aggregate-query.ts";
import {
  DELETED,
  type Filter,
  HIGHLIGHT,
  includable,
  type QueryTable,
  type Subject,
  targetsOf,
} from "./query-table.ts";
import { WHERE } from "./where-tree.ts";

const TEXT: JsonSchema = { type: "string" };
const count = (minimum: number, maximum?: number): JsonSchema => ({
  type: "integer",
  minimum,
  ...(maximum === undefined ? {} : { maximum }),
});

/** What describing needs to know. */
interface Asked extends Subject {
  readonly scope: OperationScope;
  readonly tables: ReadonlyMap<AnyEntity, QueryTable>;
}

/** The parameters of some parts of the dialect that a caller may use. */
export async function describeQuery(
  parts: ReadonlySet<QueryPart>,
  table: QueryTable,
  scope: OperationScope,
  tables: ReadonlyMap<AnyEntity, QueryTable>,
): Promise<readonly ParameterDescription[]> {
  const asked: Asked = { table, mask: scope.access.mask(table.entity), targets: new Map(), scope, tables };
  const takesDeleted = parts.has("filter") || parts.has("deleted");
  return [
    // Those of the list by name, where they are described.
    ...(!parts.has("filter") ? [] : parts.has("aggregate") ? [WHERE_PARAMETER] : await filters(asked)),
    ...(takesDeleted && (await mayRestore(asked)) ? [DELETED_PARAMETER] : []),
    ...(parts.has("aggregate") ? describeAggregate(scope) : []),
    ...(parts.has("sort") ? order(asked) : []),
    ...(parts.has("page") ? page(scope.app.limits) : []),
    ...(parts.has("page") && isSearchable(table.entity) ? [HIGHLIGHT_PARAMETER] : []),
    ...(parts.has("shape") ? await included(asked) : []),
    ...(parts.has("shape") || parts.has("select") ? [selected(asked)] : []),
  ];
}

/** Who may restore no record is refused when they ask for deleted ones. */
async function mayRestore({ table: { entity }, scope }: Asked): Promise<boolean> {
  if (entity.softDelete === undefined) return false;
  try {
    return (await scope.access.decide({ kind: "list", entity, query: { deleted: "with" } })).allowed;
  } catch (error) {
    if (isKeelsonError(error) && (error.status === 401 || error.status === 403)) return false;
    throw error;
  }
}

const DELETED_PARAMETER: ParameterDescription = {
  name: DELETED,
  schema: { enum: ["with", "only"] },
  description: "Shows softly deleted records, too, or nothing but these: those that the caller may restore.",
};

const HIGHLIGHT_PARAMETER: ParameterDescription = {
  name: HIGHLIGHT,
  schema: { enum: ["true", "false"], default: "false" },
  description: "Adds `_highlights` to each record: HTML of its fields with `<mark>` around what `q` found.",
};

const WHERE_PARAMETER: ParameterDescription = {
  name: WHERE,
  schema: TEXT,
  description:
    'Conditions as JSON, with `and`, `or`, `not` and related records: `{"or":[{"views":{"gt":100}},{"author":{"name":{"like":"m"}}}]}`.',
};

async function filters({ table, mask, scope, tables }: Asked): Promise<ParameterDescription[]> {
  const targets = await targetsOf(table.relations.keys(), table, scope, tables);
  const hasWords = isSearchable(table.entity);
  const searchable = table.searchable.filter(
    (name) => mask.filterable.has(name) && (!hasWords || table.entity.fields[name]?.search !== undefined),
  );
  const finds = hasWords ? "Words to find in" : "Text to find in";
  return [
    ...describeConditions({ table, mask }, "", scope.app.limits),
    ...[...targets].flatMap(([relation, target]) => describeConditions(target, `${relation}.`, scope.app.limits)),
    ...(searchable.length === 0
      ? []
      : [{ name: "q", schema: TEXT, description: `${finds} ${searchable.join(" or ")}.` }]),
    WHERE_PARAMETER,
  ];
}

function order({ mask, scope }: Asked): ParameterDescription[] {
  const names = [...mask.sortable].flatMap((name) => [name, `-${name}`]);
  const most = scope.app.limits.sortKeys;
  const list = (words: readonly string[]): JsonSchema => ({
    type: "array",
    items: { type: "string", enum: words },
    maxItems: most,
  });
  return [
    {
      name: "_sort",
      schema: list(names),
      commas: true,
      description: "Fields to sort by; a minus turns the order around. The id is always the last one.",
    },
    {
      name: "_order",
      schema: list(["asc", "desc"]),
      commas: true,
      description: "Directions of `_sort`, in place of minuses.",
    },
  ];
}

function page({ pageSize, maxPageSize }: Limits): ParameterDescription[] {
  return [
    { name: "_page", schema: count(1), description: "Which page, from 1." },
    { name: "_limit", schema: { ...count(1, maxPageSize), default: pageSize }, description: "Records of a page." },
    { name: "_start", schema: count(0), description: "How many records to skip, in place of `_page`." },
    { name: "_end", schema: count(1), description: "Where to stop, in place of `_limit`." },
    { name: "_after", schema: TEXT, description: "The `X-Next-Cursor` of the page before, in place of `_page`." },
    {
      name: "_total",
      schema: { enum: ["exact", "estimated", "none"], default: "exact" },
      description:
        "Whether `X-Total-Count` is exact, stops where pages can no longer be numbered, or is left out with the work of counting.",
    },
  ];
}

async function included({ table, scope }: Asked): Promise<ParameterDescription[]> {
  const names = (await includable(table, scope)).map(({ name }) => name);
  if (names.length === 0) return [];
  const { includes, includeDepth } = scope.app.limits;
  const description = `Related records to add: ${names.join(", ")}, and theirs after a dot, ${includeDepth} levels deep.`;
  return [{ name: "include", schema: { type: "array", items: TEXT, maxItems: includes }, commas: true, description }];
}

function selected({ mask }: Asked): ParameterDescription {
  const items = { type: "string", enum: [...mask.readable] };
  return {
    name: "select",
    schema: { type: "array", items },
    commas: true,
    description: "Fields to show, and no others but the id.",
  };
}

/** What a condition says, as the end of a sentence that begins with the field. */
const MEANINGS: Readonly<Record<Operator, string>> = {
  eq: "is this, or one of these where the parameter is repeated",
  ne: "is not this",
  gt: "is greater than this",
  gte: "is this or greater",
  lt: "is less than this",
  lte: "is this or less",
  in: "is one of these",
  nin: "is not one of these",
  like: "contains this text, whatever the case",
  starts: "begins with this text, whatever the case",
  ends: "ends with this text, whatever the case",
  null: "is empty (true) or not (false)",
};

const TRUTH: JsonSchema = { type: "boolean" };

/**
 * One parameter per name that can be read as a condition; a name has its first reading, as it has in requests.
 * @param prefix of all names, for conditions through a relation
 */
function describeConditions(
  { table, mask }: Pick<Subject, "table" | "mask">,
  prefix: string,
  limits: Limits,
): ParameterDescription[] {
  const found = [...table.filters].flatMap(([name, readings]) => {
    const filter = readings.find(({ column }) => mask.filterable.has(column.name));
    return filter?.column.kind.operators.has(filter.operator) ? [{ name, filter }] : [];
  });
  const byField = Object.values(table.entity.columns).flatMap((column) =>
    found.filter(({ filter }) => filter.column === column),
  );
  return byField.map(({ name, filter }) => {
    const { schema, commas } = operand(filter, limits);
    const description = `${prefix}${filter.column.name} ${MEANINGS[filter.operator]}.`;
    return { name: prefix + name, schema, description, ...(commas ? { commas } : {}) };
  });
}

function operand(
  { column, operator }: Filter,
  limits: Limits,
): { readonly schema: JsonSchema; readonly commas?: boolean } {
  const one = jsonSchemaOf(column.kind);
  const most = column.role === "id" ? limits.maxPageSize : limits.inValues;
  const several = { type: "array", items: one, maxItems: most };
  switch (operator) {
    case "null":
      return { schema: TRUTH };
    case "like":
    case "starts":
    case "ends":
      return { schema: TEXT };
    case "in":
    case "nin":
      return { schema: several, commas: true };
    case "eq":
      return { schema: column.kind.operators.has("in") ? several : one };
    default:
      return { schema: one };
  }
}
