import {
  type AnyEntity,
  isKeelsonError,
  type JsonSchema,
  jsonSchemaOf,
  OPERATORS,
  operandOf,
} from "../../entity/index.ts";
import {
  type FieldMask,
  isSearchable,
  type OperationScope,
  type ParameterDescription,
  type QueryPart,
  type RouteReader,
} from "../../gate/index.ts";
import type { Limits } from "../../kernel/index.ts";
import { DELETED, type Filter, HIGHLIGHT, includable, type QueryTable, targetsOf } from "./query-table.ts";
import { describeAggregate } from "./read-aggregate.ts";
import { WHERE } from "./where-tree.ts";

const TEXT: JsonSchema = { type: "string" };
const count = (minimum: number, maximum?: number): JsonSchema => ({
  type: "integer",
  minimum,
  ...(maximum === undefined ? {} : { maximum }),
});

/** The caller and the entity to describe. */
interface Question {
  readonly table: QueryTable;
  readonly scope: OperationScope;
  readonly tables: ReadonlyMap<AnyEntity, QueryTable>;
  /** Creates schemas of records. Without it, `_where` is described as text. */
  readonly record: RouteReader["record"] | undefined;
}

/** A question with the caller's mask. */
interface Asked extends Question {
  readonly mask: FieldMask;
}

/** The parameters of some parts of the dialect, as far as the caller may use them. */
export async function describeQuery(
  parts: ReadonlySet<QueryPart>,
  question: Question,
): Promise<readonly ParameterDescription[]> {
  const { table, scope } = question;
  const asked: Asked = { ...question, mask: scope.access.mask(table.entity) };
  const takesDeleted = parts.has("filter") || parts.has("deleted");
  return [
    // Aggregates only describe `_where`; the list describes filters by name.
    ...(!parts.has("filter") ? [] : parts.has("aggregate") ? [await where(asked)] : await filters(asked)),
    ...(takesDeleted && (await mayRestore(asked)) ? [DELETED_PARAMETER] : []),
    ...(parts.has("aggregate") ? describeAggregate(scope) : []),
    ...(parts.has("sort") ? await order(asked, parts.has("page")) : []),
    ...(parts.has("page") ? page(scope.app.limits) : []),
    ...(parts.has("page") && isSearchable(table.entity) ? [HIGHLIGHT_PARAMETER] : []),
    ...(parts.has("shape") ? await included(asked) : []),
    ...(parts.has("shape") || parts.has("select") ? [selected(asked)] : []),
  ];
}

/** Whether the caller may restore some records. Others are refused when they ask for deleted ones. */
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

async function where({ table, scope, tables, record }: Asked): Promise<ParameterDescription> {
  const targets = await targetsOf(table.relations.keys(), table, scope, tables);
  const through = targets.size === 0 ? "" : ` and through ${[...targets.keys()].join(", ")}`;
  const json = { contentMediaType: "application/json", contentSchema: record?.(table.entity, "where") };
  return {
    name: WHERE,
    schema: record === undefined ? TEXT : { ...TEXT, ...json },
    description: `Conditions as JSON, with \`and\`, \`or\` and \`not\`, on every field with every operator${through}.`,
  };
}

async function filters(asked: Asked): Promise<ParameterDescription[]> {
  const { table, mask, scope } = asked;
  const hasWords = isSearchable(table.entity);
  const searchable = table.searchable.filter(
    (name) => mask.filterable.has(name) && (!hasWords || table.entity.fields[name]?.search !== undefined),
  );
  const finds = hasWords ? "Words to find in" : "Text to find in";
  return [
    ...describeConditions(table, mask, scope.app.limits),
    ...(searchable.length === 0
      ? []
      : [{ name: "q", schema: TEXT, description: `${finds} ${searchable.join(" or ")}.` }]),
    await where(asked),
  ];
}

/** @param takesPaths whether fields of related records are allowed */
async function order({ table, mask, scope, tables }: Asked, takesPaths: boolean): Promise<ParameterDescription[]> {
  const names = [...mask.sortable].flatMap((name) => [name, `-${name}`]);
  const keys = [...table.relations].flatMap(([name, { type }]) => (type === "belongsTo" ? [name] : []));
  const targets = takesPaths ? [...(await targetsOf(keys, table, scope, tables)).keys()] : [];
  const own: JsonSchema = { type: "string", enum: names };
  const path: JsonSchema = { type: "string", pattern: `^-?(${targets.join("|")})\\.` };
  const list = (items: JsonSchema): JsonSchema => ({ type: "array", items, maxItems: scope.app.limits.sortKeys });
  return [
    {
      name: "_sort",
      schema: list(targets.length === 0 ? own : { anyOf: [own, path] }),
      commas: true,
      description: `Fields to sort by${targets.length === 0 ? "" : `, or those of one related record, such as \`${targets[0]}.id\``}; a minus turns the order around. The id is always the last one.`,
    },
    {
      name: "_order",
      schema: list({ type: "string", enum: ["asc", "desc"] }),
      commas: true,
      description: "Directions of `_sort`, in place of minuses.",
      shared: true,
    },
  ];
}

function page({ pageSize, maxPageSize }: Limits): ParameterDescription[] {
  const parameters: readonly ParameterDescription[] = [
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
  return parameters.map((parameter) => ({ ...parameter, shared: true }));
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

const TRUTH: JsonSchema = { type: "boolean" };

/**
 * One parameter per name that can be read as a condition. As in requests, the first meaning of a name counts. Operators
 * that are rarely useful for a field are only in the schema of `_where`.
 */
function describeConditions(table: QueryTable, mask: FieldMask, limits: Limits): ParameterDescription[] {
  const found = [...table.filters].flatMap(([name, readings]) => {
    const filter = readings.find(({ column }) => mask.filterable.has(column.name));
    return filter !== undefined && isUsual(filter) ? [{ name, filter }] : [];
  });
  const byField = Object.values(table.entity.columns).flatMap((column) =>
    found.filter(({ filter }) => filter.column === column),
  );
  return byField.map(({ name, filter }) => {
    const { schema, commas } = operand(filter, limits);
    const description = `${filter.column.name} ${OPERATORS[filter.operator].meaning}.`;
    return { name, schema, description, ...(commas ? { commas } : {}) };
  });
}

/** Leaves out ranges of texts and ids, patterns on ids and enums, `_null` on required fields, and synonyms. */
function isUsual({ column: { kind, field, role, optional }, operator }: Filter): boolean {
  const { operators } = kind;
  if (!operators.has(operator)) return false;
  const isKey = role === "id" || role === "foreignKey";
  if (operator === "null") return optional;
  const { group } = OPERATORS[operator];
  if (group === "order") return !isKey && !operators.has("like");
  if (group === "text") return !isKey && jsonSchemaOf(kind, field).enum === undefined;
  // `in` has the same meaning as repeating the plain name.
  return operator !== "nin" && (operator !== "in" || !operators.has("eq"));
}

function operand(
  { column, operator }: Filter,
  limits: Limits,
): { readonly schema: JsonSchema; readonly commas?: boolean } {
  const one = jsonSchemaOf(column.kind.item ?? column.kind);
  const most = column.role === "id" ? limits.maxPageSize : limits.inValues;
  const several = { type: "array", items: one, maxItems: most };
  switch (operandOf(operator)) {
    case "truth":
      return { schema: TRUTH };
    case "text":
      return { schema: TEXT };
    case "values":
    case "items":
      return { schema: several, commas: true };
    default:
      return { schema: operator === "eq" && column.kind.operators.has("in") ? several : one };
  }
}
