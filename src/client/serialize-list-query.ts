import { isOperator, type OperandOf, type Operator } from "../entity/kinds/operators.ts";
import { encode } from "./client-routes.ts";

/** A value in a condition; `null` matches missing values. */
export type ListValue = string | number | bigint | boolean | Date | null;

interface Operands {
  readonly value: ListValue;
  readonly values: readonly ListValue[];
  readonly text: string;
  readonly item: ListValue;
  readonly items: readonly ListValue[];
  readonly truth: boolean;
}

/** Operators on one field, all of which must hold. */
export type ListOperators = { readonly [K in Operator]?: Operands[OperandOf<K>] };

/**
 * Conditions by field and by related record, with `and`, `or`, `not`, `some`, `none` and `every`:
 * `{ views: { gte: 10 }, or: [{ author: { name: { like: "ann" } } }, { comments: { none: {} } }] }`.
 */
export interface ListWhere {
  readonly [name: string]: ListValue | readonly (ListValue | ListWhere)[] | ListOperators | ListWhere;
}

/** The options of a list, named as in the query string. */
export interface ListQuery {
  readonly where?: ListWhere | undefined;
  /** A text to search in all readable text fields. */
  readonly q?: string | undefined;
  /** `["-createdAt", "title"]` */
  readonly sort?: readonly string[] | undefined;
  /** The number of the page, starting at 1. */
  readonly page?: number | undefined;
  /** Records per page. @default 100, at most 1000 */
  readonly limit?: number | undefined;
  /** The number of records to skip, instead of `page`. */
  readonly offset?: number | undefined;
  /** The cursor of the previous page, instead of `page`. */
  readonly after?: string | undefined;
  /**
   * `["author", "comments.author"]`, or `{ comments: { sort: ["-createdAt"], limit: 3, include: { author: true } } }`.
   */
  readonly include?: readonly string[] | object | undefined;
  readonly select?: readonly string[] | undefined;
  /** Includes softly deleted records, or returns only these, for callers who may restore them. @default left out */
  readonly deleted?: "with" | "only" | undefined;
  /** Adds the matches of `q` to each record, under `_highlights`. @default false */
  readonly highlight?: boolean | undefined;
  /** `false` omits the count; `"estimated"` stops counting at the last page that can be numbered. @default true */
  readonly total?: boolean | "estimated" | undefined;
}

const LOGIC = new Set(["and", "or", "not", "AND", "OR", "NOT"]);

/** The aggregates to compute from the matching records, named as in the query string. */
export interface AggregateRequest {
  readonly where?: ListWhere | undefined;
  readonly deleted?: "with" | "only" | undefined;
  readonly group?: readonly string[] | undefined;
  readonly count?: boolean | undefined;
  readonly sum?: readonly string[] | undefined;
  readonly avg?: readonly string[] | undefined;
  readonly min?: readonly string[] | undefined;
  readonly max?: readonly string[] | undefined;
  readonly having?: Readonly<Record<string, unknown>> | undefined;
  readonly sort?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly zone?: string | undefined;
}

type Pair = readonly [name: string, value: string];

/**
 * Serializes a query to the query string (without `?`) that the API parses back to the same query. Runs in browsers: it
 * imports only text functions and the table of operators.
 *
 * An object whose keys are all operators is a condition; any other object is a condition on a relation. Add an operator
 * to a related field with the name of an operator: `{ author: { like: { eq: "x" } } }`. Conditions that cannot be a
 * parameter are sent as JSON, in `_where`.
 * @throws TypeError for values that a query string cannot express (`undefined`, NaN, functions, lone surrogates),
 *   because omitting them would widen the query. Not a KeelsonError: importing its class would add it to every browser
 *   bundle.
 * @example serializeListQuery({ where: { views: { gte: 10 } }, sort: ["-createdAt"], limit: 20 }) //
 *   "views_gte=10&_sort=-createdAt&_limit=20"
 */
export function serializeListQuery(query: ListQuery): string {
  const { where, q, sort, page, limit, offset, after, include, select, deleted, total, highlight } = query;
  const pairs: Pair[] = where === undefined ? [] : (wherePairs(where, "") ?? [["_where", JSON.stringify(tree(where))]]);
  const add = (name: string, value: string | number | undefined): void => {
    if (value !== undefined && value !== "") pairs.push([name, String(value)]);
  };
  add("q", q);
  add("_sort", sort?.join(","));
  add("_page", page);
  add("_start", offset);
  add("_limit", limit);
  add("_after", after);
  add("include", Array.isArray(include) ? include.join(",") : include && JSON.stringify(tree(include, "include")));
  add("select", select?.join(","));
  add("_deleted", deleted);
  if (highlight) add("_highlight", "true");
  if (total === false) add("_total", "none");
  if (total === "estimated") add("_total", total);
  return pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
}

/**
 * Serializes an aggregate to a query string. Conditions are sent as JSON, because parameters have other meanings there.
 */
export function serializeAggregate({
  where,
  deleted,
  count,
  having,
  sort,
  limit,
  offset,
  zone,
  ...lists
}: AggregateRequest): string {
  const pairs: Pair[] = [];
  const add = (name: string, value: string | number | undefined): void => {
    if (value !== undefined && value !== "") pairs.push([name, String(value)]);
  };
  for (const [name, list] of Object.entries(lists)) add(name, list?.join(","));
  if (count) add("count", "true");
  add("having", having && JSON.stringify(tree(having, "having")));
  add("_where", where && JSON.stringify(tree(where)));
  add("_sort", sort?.join(","));
  add("_limit", limit);
  add("_start", offset);
  add("_zone", zone);
  add("_deleted", deleted);
  return pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function isOperators(value: Readonly<Record<string, unknown>>): boolean {
  const entries = Object.entries(value);
  return entries.length > 0 && entries.every(([key, operand]) => isOperator(key) && !isObject(operand));
}

/** Makes one parameter per condition; undefined when a condition cannot be a parameter. */
function wherePairs(where: Readonly<Record<string, unknown>>, prefix: string): Pair[] | undefined {
  const pairs: Pair[] = [];
  for (const [key, value] of Object.entries(where)) {
    const found = LOGIC.has(key) ? undefined : memberPairs(`${prefix}${key}`, value, prefix);
    if (found === undefined) return undefined;
    pairs.push(...found);
  }
  return pairs;
}

function memberPairs(name: string, value: unknown, prefix: string): Pair[] | undefined {
  if (Array.isArray(value)) return anyOfPairs(name, value);
  if (!isObject(value)) return [valuePair(name, "eq", value)];
  const entries = Object.entries(value);
  if (isOperators(value)) {
    if (entries.some(([, operand]) => Array.isArray(operand) && operand.includes(null))) return undefined;
    return entries.map(([operator, operand]) => valuePair(name, operator, operand));
  }
  if (Array.isArray(value.path)) return undefined; // into JSON
  return prefix === "" && entries.length > 0 ? wherePairs(value, `${name}.`) : undefined;
}

/** Makes `a=1&a=2`, the form of json-server clients; `_in=` for an empty list. */
function anyOfPairs(name: string, values: readonly unknown[]): Pair[] | undefined {
  if (values.length === 0) return [[`${name}_in`, ""]];
  if (values.some((value) => value === null || isObject(value))) return undefined;
  return values.map((value) => [name, text(name, value)]);
}

/** Converts conditions to their JSON form. */
function tree(value: unknown, name = "where"): unknown {
  if (Array.isArray(value)) return value.map((item) => tree(item, name));
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, tree(inner, key)]));
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) return value;
  return text(name, value);
}

function valuePair(name: string, operator: string, operand: unknown): Pair {
  if (Array.isArray(operand)) return [`${name}_${operator}`, joinList(operand.map((item) => text(name, item)))];
  if (operand === null && operator === "eq") return [`${name}_null`, "true"];
  if (operand === null && operator === "ne") return [`${name}_null`, "false"];
  return [operator === "eq" ? name : `${name}_${operator}`, text(name, operand)];
}

function text(name: string, value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean" || typeof value === "bigint" || Number.isFinite(value)) return String(value);
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
  throw new TypeError(`"${name}" cannot be compared with ${String(value)} in a query string`);
}

/** Joins values for `field_in` and `field_nin` by commas; commas and backslashes inside values are escaped. */
function joinList(values: readonly string[]): string {
  // An empty text means the empty list, so a list with one empty text repeats it, which is equivalent.
  if (values.length === 1 && values[0] === "") return ",";
  return values.map((value) => value.replace(/[\\,]/g, "\\$&")).join(",");
}
