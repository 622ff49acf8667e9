import { type AnyEntity, type ColumnDefinition, idParts, type ResolvedRelation } from "../../entity/index.ts";
import { passesTest, type Test } from "./passes-test.ts";

export type { Test };

/** Marks conditions, so that no `where` from outside can pass for one. */
const kCondition: unique symbol = Symbol("condition");
type Marked = { readonly [kCondition]: true };

/** A comparison of a column with a value, or for `in` with a list of values. */
export type Compare = Marked & {
  readonly op: "compare";
  readonly column: ColumnDefinition;
  readonly test: Test;
  readonly value: unknown;
  /** The record that has the value, of which the database may keep more digits; a value that only it has is undefined. */
  readonly record?: { readonly entity: AnyEntity; readonly where: Condition };
};

/** Some related record matches. */
export type Related = Marked & {
  readonly op: "related";
  readonly relation: ResolvedRelation;
  readonly matches: Condition;
};

/** A single test of a condition. */
export type Leaf = Compare | Related;

/**
 * A condition on records: the one form of a filter inside the gate and below it. Names are resolved and values checked.
 * Logic is two-valued: a comparison does not hold for null, and `not` holds exactly where its condition does not.
 * `compileWhere` makes one of a `where`; `and`, `or`, `not`, `compare` and `related` put them together.
 */
export type Condition =
  | (Marked & { readonly op: "and" | "or"; readonly of: readonly Condition[] })
  /** Of a comparison or a relation: `not()` moves it there. */
  | (Marked & { readonly op: "not"; readonly of: Leaf })
  | Compare
  | Related
  | (Marked & { readonly op: "always" })
  | (Marked & { readonly op: "never" });

/** The condition that every record meets. */
export const ALWAYS: Condition = Object.freeze({ [kCondition]: true as const, op: "always" });
/** The condition that no record meets. */
export const NEVER: Condition = Object.freeze({ [kCondition]: true as const, op: "never" });

export function isCondition(value: unknown): value is Condition {
  return typeof value === "object" && value !== null && kCondition in value;
}

/** All of several conditions; `ALWAYS` without any. */
export function and(of: readonly Condition[]): Condition {
  return of.length < 2 ? (of[0] ?? ALWAYS) : { [kCondition]: true, op: "and", of };
}

/** One of several conditions; `NEVER` without any. */
export function or(of: readonly Condition[]): Condition {
  return of.length < 2 ? (of[0] ?? NEVER) : { [kCondition]: true, op: "or", of };
}

/** The condition that holds exactly where another does not. */
export function not(condition: Condition): Condition {
  switch (condition.op) {
    case "and":
      return or(condition.of.map(not));
    case "or":
      return and(condition.of.map(not));
    case "not":
      return condition.of;
    case "always":
      return NEVER;
    case "never":
      return ALWAYS;
    default:
      return { [kCondition]: true, op: "not", of: condition };
  }
}

/**
 * A comparison of a column with a value; `null` goes with `eq` only, a list with `in`. Where the column may hold values
 * between two of its kind, such as microseconds, those count as the first of the two, which is what records show; values
 * before the first one of the kind and behind the last one count as these.
 */
export function compare(column: ColumnDefinition, test: Test, value: unknown): Condition {
  const { kind } = column;
  const { next, values, bounds } = kind;
  const words = column.parts?.some((part) => part.kind.values !== undefined) === true;
  if (words && value !== null && test !== "eq" && test !== "in") return compareParts(column.parts ?? [], test, value);
  if (values !== undefined && value !== null && test !== "eq" && test !== "in") {
    const passing = values.filter((one) => passesTest(kind, test, one, value));
    // A word that only the database knows comes before all others.
    if (column.existing === true && kind.column.words !== undefined && (test === "lt" || test === "lte")) {
      const others = values.filter((one) => !passing.includes(one));
      const some = not(compareExactly(column, "eq", null));
      return others.length === 0 ? some : and([some, not(compareExactly(column, "in", others))]);
    }
    return passing.length === 0 ? NEVER : compareExactly(column, "in", passing);
  }
  const isPlain = column.existing !== true || value === null || (next === undefined && bounds === undefined);
  if (isPlain) return compareExactly(column, test, value);
  const isAt = (bound: unknown): boolean => bound !== undefined && kind.compare(value, bound) === 0;
  if (test === "in") return or((value as readonly unknown[]).map((one) => compare(column, "eq", one)));
  const any = not(compareExactly(column, "eq", null));
  const isFirst = isAt(bounds?.[0]);
  const after = next?.(value);
  const isLast = next === undefined ? isAt(bounds?.[1]) : after === undefined;
  const from = isFirst ? any : compareExactly(column, "gte", value);
  const behind = next === undefined ? compareExactly(column, "gt", value) : compareExactly(column, "gte", after);
  const upTo = next === undefined ? compareExactly(column, "lte", value) : compareExactly(column, "lt", after);
  switch (test) {
    case "eq":
      return next === undefined && !isFirst && !isLast
        ? compareExactly(column, "eq", value)
        : and([from, isLast ? any : upTo]);
    case "gte":
      return from;
    case "lte":
      return isLast ? any : upTo;
    case "gt":
      return isLast ? NEVER : behind;
    default:
      return isFirst && test === "lt" ? NEVER : compareExactly(column, test, value);
  }
}

/** A comparison of an id part by part: what the database thinks of the order of words does not count. */
function compareParts(parts: readonly ColumnDefinition[], test: Test, id: unknown): Condition {
  const values = idParts(parts, String(id)) ?? [];
  const equal = parts.map((part, index) => compare(part, "eq", values[index]));
  const strict = test === "gt" || test === "gte" ? "gt" : "lt";
  const branches = parts.map((part, index) => and([...equal.slice(0, index), compare(part, strict, values[index])]));
  return or(test === strict ? branches : [...branches, and(equal)]);
}

/**
 * A comparison with a value as the database keeps it.
 * @param record The one that has the value; where it no longer does, the value counts as it is given
 */
export function compareExactly(
  column: ColumnDefinition,
  test: Test,
  value: unknown,
  record?: Compare["record"],
): Compare {
  return { [kCondition]: true, op: "compare", column, test, value, ...(record !== undefined && { record }) };
}

/** The condition that some related record meets another one. */
export function related(relation: ResolvedRelation, matches: Condition): Related {
  return { [kCondition]: true, op: "related", relation, matches };
}

/**
 * Calls back for every comparison and relation of a condition, from left to right, a relation before its inner
 * condition.
 * @param visit gets the relation whose records the leaf is about, undefined for the condition's own; returns false for
 *   a relation to skip its inner condition
 */
export function visitCondition(
  condition: Condition,
  visit: (leaf: Leaf, inside: ResolvedRelation | undefined) => unknown,
  inside?: ResolvedRelation,
): void {
  switch (condition.op) {
    case "and":
    case "or":
      for (const part of condition.of) visitCondition(part, visit, inside);
      return;
    case "not":
      visitCondition(condition.of, visit, inside);
      return;
    case "compare":
      visit(condition, inside);
      return;
    case "related":
      if (visit(condition, inside) !== false) visitCondition(condition.matches, visit, condition.relation);
  }
}

/**
 * A condition with other comparisons and relations.
 * @param map gets each of them, and as in `visitCondition` the relation around it; the inner condition of a relation is
 *   mapped first
 */
export function mapCondition(
  condition: Condition,
  map: (leaf: Leaf, inside: ResolvedRelation | undefined) => Condition,
  inside?: ResolvedRelation,
): Condition {
  switch (condition.op) {
    case "and":
      return and(condition.of.map((part) => mapCondition(part, map, inside)));
    case "or":
      return or(condition.of.map((part) => mapCondition(part, map, inside)));
    case "not":
      return not(mapCondition(condition.of, map, inside));
    case "compare":
      return map(condition, inside);
    case "related": {
      const { relation, matches } = condition;
      return map(related(relation, mapCondition(matches, map, relation)), inside);
    }
    default:
      return condition;
  }
}

/** Whether a condition holds for every record without looking; drivers refuse it in bulk writes. */
export function isAlways(condition: Condition): boolean {
  if (condition.op === "and") return condition.of.every(isAlways);
  return condition.op === "or" ? condition.of.some(isAlways) : condition.op === "always";
}

/** The single id that a condition names, or undefined when it could hold for several records. */
export function soleId(condition: Condition): string | undefined {
  if (condition.op === "and") return condition.of.map(soleId).find((id) => id !== undefined);
  if (condition.op !== "compare" || condition.test !== "eq" || condition.column.role !== "id") return undefined;
  return (condition.value as string | null) ?? undefined;
}

/**
 * Whether a change of these columns may change a condition's result: the condition names one of them, or follows a key
 * among them, there or on a path that comes back to the record's entity. Values are not compared.
 */
export function dependsOn(entity: AnyEntity, condition: Condition, columns: readonly string[]): boolean {
  let found = false;
  visitCondition(condition, (leaf, inside) => {
    const at = inside?.target ?? entity;
    if (leaf.op === "compare") found ||= at === entity && columns.includes(leaf.column.name);
    else {
      const { type, target, foreignKey } = leaf.relation;
      const keeper = type === "belongsTo" ? at : target;
      found ||= keeper === entity && columns.includes(foreignKey as string);
    }
  });
  return found;
}

/**
 * Whether a condition uses related records.
 * @param target @default of any entity
 */
export function looksAt(condition: Condition, target?: AnyEntity): boolean {
  let found = false;
  visitCondition(condition, (leaf) => {
    found ||= leaf.op === "related" && (target === undefined || leaf.relation.target === target);
  });
  return found;
}

/**
 * A stored record: one property per column. Absent values are `null`, datetimes are `Date` unless texts were requested.
 */
export type Row = Record<string, unknown>;

/**
 * Conditions on records, the shape used by drivers, rules, services and clients: `{ published: true, views: { gte: 3 },
 * author: { name: { like: "ann" } }, or: [...], and: [...], not: {...} }` (or `OR`, `AND`, `NOT`). Operators: `eq ne gt gte lt lte in nin like
 * starts ends null`; an array means `in`, `null` means “is null”. Logic is two-valued: a null is not equal to 3, so `{
 * views: { ne: 3 } }` and `NOT` match it. `like`, `starts` and `ends` ignore case (SQLite: of A to Z only) and take `%`
 * and `_` literally. A to-many relation matches when some related record does, or as `{ some, none, every }` say.
 */
export interface Where {
  readonly [name: string]: unknown;
}

/** An entity by name or by definition. */
export type EntityRef = string | AnyEntity | { build(): AnyEntity };
