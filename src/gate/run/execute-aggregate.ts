import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import { BadRequestError, didYouMean, type Limits } from "../../kernel/index.ts";
import { compileWhere } from "../condition/compile-where.ts";
import type { Row, Where } from "../condition/condition.ts";
import type { MutableOperation } from "../operation/new-operation.ts";
import type { AggregateQuery } from "../operation/operation.ts";
import type { GateScope } from "../operation/runtime.ts";
import type { Aggregate, GroupKey, GroupTest, Measure } from "../statement/aggregate.ts";
import { ByteBudget, mostBytes, rowBytes } from "../statement/byte-budget.ts";
import { BUCKETS, type Bucket, isZone } from "../statement/calendar.ts";
import { foldRecords } from "../statement/fold-records.ts";

/** Maximum number of measures in one query. */
const MOST_MEASURES = 20;

/**
 * Columns with longer values cannot be grouped by or used in `min` and `max`: a thousand groups would return a thousand
 * of them.
 */
const LONG = 4_096;

/**
 * Computes the groups of the matching records and drops groups smaller than the entity's `.minGroup()`. Keys and
 * measures are checked against the caller's mask here, for every surface.
 * @throws BadRequestError
 */
export async function aggregate(
  operation: MutableOperation,
  query: AggregateQuery,
  where: Where | undefined,
): Promise<readonly Row[]> {
  const { entity, scope } = operation;
  const { pageSize, maxPageSize, maxOffset, sortKeys } = scope.app.limits;
  if ((query.sort?.length ?? 0) > sortKeys) throw new BadRequestError(`A query takes at most ${sortKeys} sort keys`);
  const { zone, limit = pageSize, offset } = query;
  const reading: Reading = { operation, entity };
  const groups = (query.group ?? []).map((text) => groupKey(reading, text));
  const measures = measuresOf(reading, query);
  if (groups.length > sortKeys) throw new BadRequestError(`A query has at most ${sortKeys} groups`);
  if (measures.length > MOST_MEASURES) throw new BadRequestError(`A query has at most ${MOST_MEASURES} measures`);
  if (groups.length + measures.length === 0)
    throw new BadRequestError("An aggregate needs something to compute: group, count, sum, avg, min or max");
  if (zone !== undefined && !isZone(zone))
    throw new BadRequestError("The time zone is not known; it is one like Europe/Berlin");
  if (!isWhole(limit, 1, maxPageSize)) throw new BadRequestError(`A page has at most ${maxPageSize} groups`);
  if (offset !== undefined && !isWhole(offset, 0, maxOffset))
    throw new BadRequestError(`At most ${maxOffset} groups can be skipped`);
  const named = new Set([...groups, ...measures].map(({ name }) => name));
  for (const { field } of query.sort ?? [])
    if (!named.has(field))
      throw new BadRequestError(`Groups can be sorted by what is asked for: ${[...named].join(", ")}`);
  if (scope.principal.kind !== "system") refuseWide([...groups, ...measures], limit, scope.app.limits);
  const least = scope.principal.kind === "system" || query.hidesSmall === false ? undefined : entity.minGroup;
  const statement: Aggregate = {
    kind: "aggregate",
    entity,
    where: compileWhere(scope.app.model, entity, where),
    groups,
    measures: least === undefined ? measures : [...measures, { name: HIDDEN, of: "count" }],
    having: [...testsOf(measures, query.having), ...(least === undefined ? [] : [atLeast(least)])],
    sort: query.sort,
    limit,
    offset,
    zone,
  };
  const { execute, capabilities } = scope.store;
  const rows = await (capabilities.aggregates ? execute(statement) : foldRecords(execute, statement));
  for (const row of rows) delete row[HIDDEN];
  if (scope.principal.kind !== "system") refuseLarge(rows, scope);
  return rows;
}

/** A database returns all groups of a page at once: they may be at most this many times as large as a page. */
const MOST_PAGES = 8;

/** @throws BadRequestError when the groups together may be far larger than a page */
function refuseWide(parts: readonly (GroupKey | Measure)[], limit: number, { pageBytes }: Limits): void {
  const most = parts.reduce((sum, { column }) => sum + (column === undefined ? 0 : mostBytes(column)), 0);
  if (most * limit > pageBytes * MOST_PAGES)
    throw new BadRequestError("The groups may be too large together; ask for fewer of them, or for less of each");
}

/**
 * @throws BadRequestError when the groups exceed the size of a page, UnavailableError when too many large responses are
 *   in flight
 */
function refuseLarge(rows: readonly Row[], { app, exchange }: GateScope): void {
  const bytes = new ByteBudget(app.limits.pageBytes, exchange);
  if (bytes.take(rows.map(rowBytes)) < rows.length)
    throw new BadRequestError(
      `The groups would have more than ${app.limits.pageBytes} bytes; ask for fewer of them, or for less of each`,
    );
}

/** The internal measure that finds small groups. No field can have this name. */
const HIDDEN = "count of the group";

function atLeast(value: number): GroupTest {
  return { name: HIDDEN, test: "gte", value };
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

interface Reading {
  readonly operation: MutableOperation;
  readonly entity: AnyEntity;
}

const CALL = /^([a-z]+)\((\w+)\)$/;

function groupKey(reading: Reading, text: string): GroupKey {
  const [, word, field] = CALL.exec(text) ?? [];
  if (word === undefined || field === undefined) {
    const column = usable(reading, text);
    if (!column.kind.sortable && !column.kind.operators.has("in"))
      throw new BadRequestError(`"${text}" cannot be grouped by`);
    return { name: text, column: short(column, "grouped by") };
  }
  if (!(BUCKETS as readonly string[]).includes(word))
    throw new BadRequestError(`There is no "${word}" to group by; there are ${BUCKETS.join(", ")}`);
  const column = usable(reading, field);
  const { scalar } = column.kind.column;
  if (scalar !== "DateTime" && scalar !== "Date")
    throw new BadRequestError(`"${field}" is neither a datetime nor a date`);
  if (scalar === "Date" && word === "hour") throw new BadRequestError(`"${field}" is a date, which has no hours`);
  return { name: text, column, bucket: word as Bucket };
}

function measuresOf(reading: Reading, query: AggregateQuery): Measure[] {
  const of = (kind: "sum" | "avg" | "min" | "max"): Measure[] =>
    [...new Set(query[kind] ?? [])].map((field) => {
      const column = usable(reading, field);
      const { scalar } = column.kind.column;
      const isNumber = NUMBERS.has(scalar) && column.role === "field";
      if (kind === "sum" || kind === "avg" ? !isNumber : !column.kind.operators.has("gt") || scalar === "Uuid")
        throw new BadRequestError(`"${field}" has no ${kind}`);
      return { name: `${kind}.${field}`, of: kind, column: short(column, "compared for a minimum or a maximum") };
    });
  return [
    ...(query.count ? [{ name: "count", of: "count" } as const] : []),
    ...of("sum"),
    ...of("avg"),
    ...of("min"),
    ...of("max"),
  ];
}

const NUMBERS: ReadonlySet<string> = new Set(["Int", "BigInt", "Float", "Decimal"]);

/**
 * A column that this caller may group by and compute with: one that they may compare and read on every record. A field
 * that they may not read is reported like an unknown one.
 */
function usable({ operation, entity }: Reading, name: string): ColumnDefinition {
  const { scope } = operation;
  const isSystem = scope.principal.kind === "system";
  const mask = isSystem ? undefined : scope.access.mask(entity);
  const column = Object.hasOwn(entity.columns, name) ? entity.columns[name] : undefined;
  const isKnown = column !== undefined && !entity.hidden.includes(name) && (mask?.readable.has(name) ?? true);
  if (!isKnown)
    throw new BadRequestError(`${entity.name} has no field "${name}".${didYouMean(name, mask?.readable ?? [])}`);
  if (column.field?.encrypted || mask?.readablePerRow?.has(name) || mask?.filterable.has(name) === false)
    throw new BadRequestError(`"${name}" is not a field that all records show, so nothing can be computed of it`);
  return column;
}

function short(column: ColumnDefinition, use: string): ColumnDefinition {
  if (mostBytes(column) <= LONG) return column;
  throw new BadRequestError(`"${column.name}" may be too long to be ${use}`);
}

const TESTS: ReadonlySet<string> = new Set(["eq", "ne", "gt", "gte", "lt", "lte"]);
const NUMBER = /^-?\d{1,30}(?:\.\d{1,30})?$/;

function testsOf(measures: readonly Measure[], having: AggregateQuery["having"] = {}): GroupTest[] {
  if (typeof having !== "object" || having === null) throw new BadRequestError('"having" takes an object');
  return Object.entries(having).flatMap(([name, tests]) => {
    const measure = measures.find((one) => one.name === name && NUMBERS.has(one.column?.kind.column.scalar ?? "Int"));
    if (measure === undefined || typeof tests !== "object" || tests === null)
      throw new BadRequestError(`"having" tests numbers that are asked for, such as {"count":{"gte":2}}`);
    return Object.entries(tests).map(([test, value]): GroupTest => {
      const isNumber = typeof value === "bigint" || Number.isFinite(value) || NUMBER.test(String(value));
      if (!TESTS.has(test) || !isNumber)
        throw new BadRequestError(`"having" on "${name}" takes ${[...TESTS].join(" ")} with a number`);
      return { name, test: test as GroupTest["test"], value: value as GroupTest["value"] };
    });
  });
}
