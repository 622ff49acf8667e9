import { type AnyEntity, type ColumnDefinition, idParts, type ResolvedRelation } from "../../entity/index.ts";
import { passesTest, type Test } from "./passes-test.ts";

export type { Test };

/** Marks compiled conditions, so that a `where` from outside cannot be mistaken for one. */
const kCondition: unique symbol = Symbol("condition");
type Marked = { readonly [kCondition]: true };

/** A comparison of a column with a value; `in` takes a list of values. */
export type Compare = Marked & {
  readonly op: "compare";
  readonly column: ColumnDefinition;
  readonly test: Test;
  readonly value: unknown;
  /**
   * The record that holds the value, because the database may store more digits than `value` has. When the value exists
   * only in the database, `value` is undefined.
   */
  readonly record?: { readonly entity: AnyEntity; readonly where: Condition };
};

/** Holds when at least one related record matches. */
export type Related = Marked & {
  readonly op: "related";
  readonly relation: ResolvedRelation;
  readonly matches: Condition;
};

/** A single test of a condition. */
export type Leaf = Compare | Related;

/**
 * A condition on records: the only form of a filter inside the gate and below it. Names are resolved and values
 * checked. Logic is two-valued: a comparison does not hold for null, and `not` holds exactly when its condition does
 * not. `compileWhere` makes a condition from a `where`; `and`, `or`, `not`, `compare` and `related` combine conditions.
 */
export type Condition =
  | (Marked & { readonly op: "and" | "or"; readonly of: readonly Condition[] })
  /** Negates a comparison or a relation only; `not()` moves negations inwards. */
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

/** Holds when all conditions hold; `ALWAYS` for an empty list. */
export function and(of: readonly Condition[]): Condition {
  return of.length < 2 ? (of[0] ?? ALWAYS) : { [kCondition]: true, op: "and", of };
}

/** Holds when at least one condition holds; `NEVER` for an empty list. */
export function or(of: readonly Condition[]): Condition {
  return of.length < 2 ? (of[0] ?? NEVER) : { [kCondition]: true, op: "or", of };
}

/** Holds exactly when the given condition does not. */
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
 * Compares a column with a value; `null` is allowed for `eq` only, a list for `in` only. The column may store values
 * between two values of its kind, such as microseconds. They compare like the lower of the two, which is the value that
 * records show. Stored values below the first or above the last value of the kind compare like that value.
 */
export function compare(column: ColumnDefinition, test: Test, value: unknown): Condition {
  const { kind } = column;
  const { next, values, bounds } = kind;
  const words = column.parts?.some((part) => part.kind.values !== undefined) === true;
  if (words && value !== null && test !== "eq" && test !== "in") return compareParts(column.parts ?? [], test, value);
  if (values !== undefined && value !== null && test !== "eq" && test !== "in") {
    const passing = values.filter((one) => passesTest(kind, test, one, value));
    // A word that only the database declares sorts before all others.
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

/** Compares an id part by part, independent of the database's collation. */
function compareParts(parts: readonly ColumnDefinition[], test: Test, id: unknown): Condition {
  const values = idParts(parts, String(id)) ?? [];
  const equal = parts.map((part, index) => compare(part, "eq", values[index]));
  const strict = test === "gt" || test === "gte" ? "gt" : "lt";
  const branches = parts.map((part, index) => and([...equal.slice(0, index), compare(part, strict, values[index])]));
  return or(test === strict ? branches : [...branches, and(equal)]);
}

/**
 * Compares with a value exactly as the database stores it.
 * @param record the record that holds the value; when it no longer does, `value` is used
 */
export function compareExactly(
  column: ColumnDefinition,
  test: Test,
  value: unknown,
  record?: Compare["record"],
): Compare {
  return { [kCondition]: true, op: "compare", column, test, value, ...(record !== undefined && { record }) };
}

/** Holds when at least one related record meets a condition. */
export function related(relation: ResolvedRelation, matches: Condition): Related {
  return { [kCondition]: true, op: "related", relation, matches };
}

/**
 * Calls `visit` for every comparison and relation of a condition, from left to right, and for a relation before its
 * inner condition.
 * @param visit receives the leaf and the relation that contains it, or undefined at the top level; it returns false to
 *   skip the inner condition of a relation
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
 * Returns a condition with its comparisons and relations replaced.
 * @param map receives each leaf and, as in `visitCondition`, the relation that contains it; the inner condition of a
 *   relation is mapped first
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

/** Whether a condition holds for every record; drivers refuse it in bulk writes. */
export function isAlways(condition: Condition): boolean {
  if (condition.op === "and") return condition.of.every(isAlways);
  return condition.op === "or" ? condition.of.some(isAlways) : condition.op === "always";
}

/** The only id that a condition can match, or undefined when it can match several records. */
export function soleId(condition: Condition): string | undefined {
  if (condition.op === "and") return condition.of.map(soleId).find((id) => id !== undefined);
  if (condition.op !== "compare" || condition.test !== "eq" || condition.column.role !== "id") return undefined;
  return (condition.value as string | null) ?? undefined;
}

/**
 * Whether a change to these columns can change a condition's result: the condition uses one of them, directly or on a
 * path that leads back to the record's entity, or follows a relation whose key is among them. Values are not compared.
 */
export function dependsOn(entity: AnyEntity, condition: Condition, columns: readonly string[]): boolean {
  return someLeaf(condition, (leaf, inside) => {
    const at = inside?.target ?? entity;
    if (leaf.op === "compare") return at === entity && columns.includes(leaf.column.name);
    const { type, target, foreignKey } = leaf.relation;
    const keeper = type === "belongsTo" ? at : target;
    return keeper === entity && columns.includes(foreignKey as string);
  });
}

/**
 * Whether a condition uses related records.
 * @param target @default of any entity
 */
export function looksAt(condition: Condition, target?: AnyEntity): boolean {
  return someLeaf(
    condition,
    (leaf) => leaf.op === "related" && (target ?? leaf.relation.target) === leaf.relation.target,
  );
}

/** Whether a comparison or relation of a condition passes a test. */
export function someLeaf(condition: Condition, test: (leaf: Leaf, inside?: ResolvedRelation) => boolean): boolean {
  let found = false;
  visitCondition(condition, (leaf, inside) => {
    found ||= test(leaf, inside);
  });
  return found;
}

/**
 * A stored record with one property per column. Missing values are `null`, datetimes are `Date`s unless texts were
 * requested.
 */
export type Row = Record<string, unknown>;

/**
 * Conditions on records, as used by drivers, rules, services and clients:
 * `{ published: true, views: { gte: 3 }, author: { name: { like: "ann" } }, or: [...], and: [...], not: {...} }` (or
 * `OR`, `AND`, `NOT`).
 * Operators: `eq ne gt gte lt lte in nin like starts ends null`; an array means `in`, `null` means “is null”. Logic is
 * two-valued: null is not equal to 3, so `{ views: { ne: 3 } }` and `NOT` match it. `like`, `starts` and `ends` ignore
 * case (in SQLite, of A to Z only) and match `%` and `_` literally. A to-many relation matches when at least one
 * related record does; `some`, `none` and `every` change that.
 */
export interface Where {
  readonly [name: string]: unknown;
}

/** An entity by name or by definition. */
export type EntityRef = string | AnyEntity | { build(): AnyEntity };
