import { type AnyEntity, type ColumnDefinition, MOST_OPEN_DIGITS } from "../../entity/index.ts";
import { BadRequestError } from "../../kernel/index.ts";
import type { Condition, Row } from "../condition/condition.ts";
import { type Bucket, bucketOf } from "./calendar.ts";
import type { SortKey } from "./driver-port.ts";

/** A key to group records by: the value of a column, or the calendar period that it falls into. */
export interface GroupKey {
  /** The name in the result and in `sort`. */
  readonly name: string;
  readonly column: ColumnDefinition;
  /**
   * Groups by the start of the calendar period, in the local time of `zone`: "2026-03-01", for hours
   * "2026-03-01T05:00".
   */
  readonly bucket?: Bucket | undefined;
}

/** A value computed from the records of a group. */
export interface Measure {
  /** The name in the result, in `sort` and in `having`. */
  readonly name: string;
  /** `count` counts records; the others ignore records without a value. */
  readonly of: "count" | "sum" | "avg" | "min" | "max";
  /** Absent for `count`. */
  readonly column?: ColumnDefinition | undefined;
}

/** A test that a group must pass. */
export interface GroupTest {
  /** The name of a measure. */
  readonly name: string;
  readonly test: "eq" | "ne" | "gt" | "gte" | "lt" | "lte";
  /** A number; for exact kinds also its text. */
  readonly value: number | bigint | string;
}

/**
 * Computes measures of the matching records, by group. Each row of the result has the keys and the measures by name.
 * Sums of decimals are decimals, and sums of 64-bit integers are 64-bit integers. Averages are numbers; those of
 * decimals are texts with four more digits.
 */
export interface Aggregate {
  readonly kind: "aggregate";
  readonly entity: AnyEntity;
  readonly where: Condition;
  /** Without keys, there is exactly one group, even if no record matches. */
  readonly groups: readonly GroupKey[];
  readonly measures: readonly Measure[];
  /** @default no tests */
  readonly having?: readonly GroupTest[] | undefined;
  /** Names of keys and measures. @default the keys, in their order */
  readonly sort?: readonly SortKey[] | undefined;
  /** @default all groups */
  readonly limit?: number | undefined;
  /** @default 0 */
  readonly offset?: number | undefined;
  /** Name of the IANA time zone of buckets. @default "UTC" */
  readonly zone?: string | undefined;
}

/** Maximum number of groups that are aggregated in memory. */
export const MOST_GROUPS = 100_000;

/** Refuses more groups than can be aggregated in memory. @throws BadRequestError */
export function assertGroups(count: number): void {
  if (count > MOST_GROUPS)
    throw new BadRequestError(`There are more than ${MOST_GROUPS} groups; group by less, or filter the records`);
}

/** The intermediate result of a measure in one group. */
export interface Part {
  /** The number of values; for `count`, the number of records. */
  count: number;
  /** The sum; for decimals in units of the last digit. */
  sum: number | bigint;
  /** The minimum or maximum, for `min` and `max`. */
  extreme: unknown;
}

type Sums = "exact" | "plain";

/** Whether sums of a column are integers of any size, in units of the last digit. */
function sumsOf({ kind }: ColumnDefinition): Sums {
  const { scalar } = kind.column;
  return scalar === "Decimal" || scalar === "BigInt" ? "exact" : "plain";
}

/** The number of decimal places that sums of a column are computed with. */
function scaleOf({ kind: { column } }: ColumnDefinition): number {
  return column.scale ?? (column.scalar === "Decimal" ? MOST_OPEN_DIGITS : 0);
}

const NO_NUMBER = /^(NaN|-?Infinity)$/;

/** Converts a decimal to an integer in units of its last digit. PostgreSQL's NaN and Infinity stay numbers. */
export function toUnits(column: ColumnDefinition, value: unknown): bigint | number {
  const scale = scaleOf(column);
  if (NO_NUMBER.test(String(value))) return Number(value);
  const [whole = "0", rest = ""] = String(value).split(".");
  return BigInt(`${whole}${rest.padEnd(scale, "0").slice(0, scale)}`);
}

function fromUnits(units: bigint, scale: number): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, "0");
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return units < 0n ? `-${text}` : text;
}

/** The initial value of a sum. */
export function noSum(column: ColumnDefinition | undefined): number | bigint {
  return column !== undefined && sumsOf(column) === "exact" ? 0n : 0;
}

/** The contribution of one record to a measure. */
function partOf({ of, column }: Measure, record: Row): Part | undefined {
  if (column === undefined) return { count: 1, sum: 0, extreme: undefined };
  const value = record[column.name] ?? undefined;
  if (value === undefined) return undefined;
  if (of === "min" || of === "max") return { count: 1, sum: noSum(column), extreme: value };
  return { count: 1, sum: sumsOf(column) === "exact" ? toUnits(column, value) : Number(value), extreme: undefined };
}

/** The number of decimal places that averages of decimals have in addition to those of their column. */
const MORE_DIGITS = 4;
/** The number of decimal places of averages of decimals without a declared scale. */
const OPEN_AVERAGE = 20;

/** The result of a measure. */
export function resultOf({ of, column }: Measure, part: Part): unknown {
  if (column === undefined) return part.count;
  if (part.count === 0) return null;
  if (of === "min" || of === "max") return part.extreme;
  if (typeof part.sum === "number" && sumsOf(column) === "exact") return String(part.sum);
  const { scalar, scale: digits } = column.kind.column;
  const scale = scaleOf(column);
  const isOpen = digits === undefined;
  const trimmed = (text: string): string => (isOpen && text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (of === "sum") return scalar === "Decimal" ? trimmed(fromUnits(part.sum as bigint, scale)) : part.sum;
  if (scalar !== "Decimal") return Number(part.sum) / part.count;
  const count = BigInt(part.count);
  // Without a declared scale, the average has as many digits as PostgreSQL computes at least.
  const [more, drop] = isOpen ? [OPEN_AVERAGE, 10n ** BigInt(scale - OPEN_AVERAGE)] : [scale + MORE_DIGITS, 1n];
  const scaled = ((part.sum as bigint) * (isOpen ? 1n : 10n ** BigInt(MORE_DIGITS)) * 2n) / drop;
  // Halves are rounded away from zero, as databases do.
  return trimmed(fromUnits((scaled + (scaled < 0n ? -count : count)) / (count * 2n), more));
}

/** Adds two sums. If one is NaN or Infinity, the result is a number. */
function addUp(one: number | bigint, other: number | bigint): number | bigint {
  return typeof one === "bigint" && typeof other === "bigint" ? one + other : Number(one) + Number(other);
}

/** A group while its records are being aggregated. */
interface Group {
  readonly keys: readonly unknown[];
  readonly parts: readonly Part[];
}

/** Aggregates records, or intermediate results, into groups. */
export class Fold {
  readonly #statement: Aggregate;
  readonly #groups = new Map<string, Group>();

  constructor(statement: Aggregate) {
    this.#statement = statement;
    if (statement.groups.length === 0) this.#groupOf([]);
  }

  /** Adds a record. */
  record(record: Row): void {
    const { groups, measures, zone } = this.#statement;
    const keys = groups.map(({ column, bucket }) => {
      const value = record[column.name] ?? null;
      return bucket === undefined || value === null ? value : bucketOf(value as Date | string, bucket, zone);
    });
    this.part(
      keys,
      measures.map((measure) => partOf(measure, record)),
    );
  }

  /** Adds intermediate results to a group, by measure. */
  part(keys: readonly unknown[], parts: readonly (Part | undefined)[]): void {
    const { measures } = this.#statement;
    const group = this.#groupOf(keys);
    for (const [index, added] of parts.entries()) {
      const part = group.parts[index] as Part;
      if (added === undefined || added.count === 0) continue;
      const { of, column } = measures[index] as Measure;
      if (of === "min" || of === "max") {
        const order = part.count === 0 ? 0 : (column?.kind.compare(added.extreme, part.extreme) ?? 0);
        if (part.count === 0 || (of === "min" ? order < 0 : order > 0)) part.extreme = added.extreme;
      } else part.sum = addUp(part.sum, added.sum);
      part.count += added.count;
    }
  }

  #groupOf(keys: readonly unknown[]): Group {
    const text = JSON.stringify(keys, (_, value) => (typeof value === "bigint" ? `${value}n` : value));
    const known = this.#groups.get(text);
    if (known !== undefined) return known;
    const parts = this.#statement.measures.map(({ column }) => ({ count: 0, sum: noSum(column), extreme: undefined }));
    this.#groups.set(text, { keys, parts });
    assertGroups(this.#groups.size);
    return { keys, parts };
  }

  /** The rows of the result, after `having`, `sort`, `offset` and `limit`. */
  rows(): Row[] {
    const { having = [], limit, offset = 0 } = this.#statement;
    const tested = [...this.#groups.values()].filter((group) => having.every((test) => this.#passes(group, test)));
    const ordered = tested.sort((a, b) => this.#compare(a, b));
    return ordered.slice(offset, limit === undefined ? undefined : offset + limit).map((group) => this.#row(group));
  }

  #row({ keys, parts }: Group): Row {
    const { groups, measures } = this.#statement;
    const row: Row = {};
    for (const [index, { name }] of groups.entries()) row[name] = keys[index];
    for (const [index, measure] of measures.entries()) row[measure.name] = resultOf(measure, parts[index] as Part);
    return row;
  }

  #passes({ parts }: Group, { name, test, value }: GroupTest): boolean {
    const index = this.#statement.measures.findIndex((measure) => measure.name === name);
    const result = resultOf(this.#statement.measures[index] as Measure, parts[index] as Part);
    if (result === null) return test === "ne";
    const order = compareNumbers(result, value);
    return { eq: order === 0, ne: order !== 0, gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[test];
  }

  #compare(a: Group, b: Group): number {
    for (const { field, direction } of orderOfGroups(this.#statement)) {
      const order = this.#compareBy(field, a, b);
      if (order !== 0) return direction === "asc" ? order : -order;
    }
    return 0;
  }

  #compareBy(name: string, a: Group, b: Group): number {
    const { groups, measures } = this.#statement;
    const index = groups.findIndex((key) => key.name === name);
    const key = groups[index];
    if (key !== undefined)
      return compareNullable(a.keys[index], b.keys[index], (one, other) =>
        key.bucket === undefined ? key.column.kind.compare(one, other) : compareNumbers(one, other),
      );
    const at = measures.findIndex((measure) => measure.name === name);
    const measure = measures[at] as Measure;
    const [one, other] = [a, b].map(({ parts }) => resultOf(measure, parts[at] as Part));
    const isExtreme = measure.of === "min" || measure.of === "max";
    return compareNullable(
      one,
      other,
      (x, y) => (isExtreme ? measure.column?.kind.compare(x, y) : compareNumbers(x, y)) ?? 0,
    );
  }
}

/** The order of groups: `sort`, then the remaining keys. */
export function orderOfGroups({ sort = [], groups }: Aggregate): readonly SortKey[] {
  const rest = groups.filter(({ name }) => !sort.some(({ field }) => field === name));
  return [...sort, ...rest.map(({ name }): SortKey => ({ field: name, direction: "asc" }))];
}

/** `null` is the smallest value, as in lists. */
function compareNullable(a: unknown, b: unknown, compare: (a: unknown, b: unknown) => number): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  return compare(a, b);
}

const DECIMAL = /^-?\d+(?:\.\d+)?$/;

/** Compares numbers, including decimals of any notation; other texts by their characters. */
function compareNumbers(a: unknown, b: unknown): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [one, other] = [String(a), String(b)];
  if (!DECIMAL.test(one) || !DECIMAL.test(other)) {
    if (Number.isNaN(Number(a)) || Number.isNaN(Number(b))) return one < other ? -1 : one > other ? 1 : 0;
    return Number(a) - Number(b);
  }
  const scale = Math.max(...[one, other].map((text) => text.split(".")[1]?.length ?? 0));
  const [x, y] = [one, other].map((text) => {
    const [whole = "0", rest = ""] = text.split(".");
    return BigInt(`${whole}${rest.padEnd(scale, "0")}`);
  }) as [bigint, bigint];
  return x < y ? -1 : x > y ? 1 : 0;
}
