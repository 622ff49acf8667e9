import type { CompiledQuery, RawBuilder } from "kysely";
import type { ColumnDefinition, Provider } from "../../../entity/index.ts";
import { type Aggregate, type Bucket, type GroupKey, type Measure, orderOfGroups } from "../../../gate/index.ts";
import { ConditionBuilder } from "../condition/build-condition.ts";
import { comparable, groupedBy, sortedBy } from "../condition/comparable.ts";
import { conditionShape } from "../condition/condition-shape.ts";
import { Slots, type SqlBuilder } from "../condition/sql-builder.ts";
import { sourceOf } from "../tables/table-names.ts";
import type { NamedQuery, SqlConnection } from "./sql-connection.ts";

/** The part of an aggregate that its statement computes. */
export type Extent = "all" | "groups" | "quarters";

/** Whether sums of a column are returned as text, because they may have more digits than JavaScript numbers. */
function isExact(column: ColumnDefinition | undefined): boolean {
  return column?.kind.column.scalar === "Decimal" || column?.kind.column.scalar === "BigInt";
}

/**
 * "all" if the database can compute everything; "groups" if tests of sums remain; "quarters" if the database does not
 * support time zones: groups are then by quarters of an hour.
 */
export function extentOf(
  provider: Provider,
  { groups, measures, having = [], sort = [], zone = "UTC" }: Aggregate,
): Extent {
  const isLocal = groups.some(({ column, bucket }) => bucket !== undefined && column.kind.column.scalar === "DateTime");
  if (isLocal && zone !== "UTC" && provider !== "postgresql") return "quarters";
  const isHalved = ({ name, of, column }: Measure): boolean =>
    (of === "sum" || of === "avg") && isExact(column) && sort.some(({ field }) => field === name);
  if (provider === "sqlite" && measures.some(isHalved)) return "groups";
  const counts = new Set(measures.filter(({ of }) => of === "count").map(({ name }) => name));
  return having.every(({ name }) => counts.has(name)) ? "all" : "groups";
}

/**
 * The statement that computes groups: each row has the keys and, for each measure, its value and the number of values.
 */
export function aggregateQuery(
  { builder, statements }: SqlConnection,
  aggregate: Aggregate,
  extent: Extent,
  most: number,
): NamedQuery {
  const { entity, where, groups, measures, having = [], limit, offset, zone } = aggregate;
  const values: unknown[] = [];
  const condition = conditionShape(where, builder.provider, values);
  const order = orderOfGroups(aggregate);
  const asked = [
    groups.map(({ column, bucket }) => [column.name, bucket]),
    measures.map(({ of, column }) => [of, column?.name]),
    extent === "all" ? [having, order, limit, offset] : most,
    zone,
  ];
  const write = (): CompiledQuery => {
    const { db, sql, provider } = builder;
    const writer = new AggregateWriter(builder, aggregate, extent);
    let query = db
      .selectFrom(sourceOf(entity))
      .select([...groups.map((key, index) => writer.key(key).as(`k${index}`)), ...measures.flatMap(writer.measure)])
      .where(new ConditionBuilder(builder, new Slots()).build(where, entity.name));
    for (const index of groups.keys()) query = query.groupBy(sql.raw(String(index + 1)));
    if (extent !== "all") return query.limit(sql.lit(most)).compile();
    for (const { name, test, value } of having) query = query.having(writer.test(name, test, Number(value)));
    for (const { field, direction } of order) query = query.orderBy(writer.order(field, direction));
    if (limit !== undefined || (offset !== undefined && provider !== "postgresql"))
      query = query.limit(sql.lit(limit ?? Number.MAX_SAFE_INTEGER));
    return (offset === undefined ? query : query.offset(sql.lit(offset))).compile();
  };
  return statements.get(`aggregate ${entity.name} ${JSON.stringify(asked)} ${condition}`, write).query(values);
}

const TESTS = { eq: "=", ne: "<>", gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

class AggregateWriter {
  readonly #builder: SqlBuilder;
  readonly #aggregate: Aggregate;
  readonly #extent: Extent;

  constructor(builder: SqlBuilder, aggregate: Aggregate, extent: Extent) {
    this.#builder = builder;
    this.#aggregate = aggregate;
    this.#extent = extent;
  }

  #column(column: ColumnDefinition): RawBuilder<unknown> {
    return this.#builder.sql.id(this.#aggregate.entity.name, column.stored);
  }

  key({ column, bucket }: GroupKey): RawBuilder<unknown> {
    if (bucket === undefined) return groupedBy(this.#builder, column, this.#column(column));
    const isLocal = this.#extent === "quarters" && column.kind.column.scalar === "DateTime";
    const zone = column.kind.column.scalar === "DateTime" ? (this.#aggregate.zone ?? "UTC") : "UTC";
    return beginning(
      this.#builder,
      comparable(this.#builder, column, this.#column(column)),
      isLocal ? "quarter of an hour" : bucket,
      zone,
    );
  }

  readonly measure = ({ of, column }: Measure, index: number) => {
    const { sql } = this.#builder;
    const count = sql`count(*)`;
    if (column === undefined) return [count.as(`v${index}`), count.as(`n${index}`)];
    const isExtreme = of === "min" || of === "max";
    const of1 = isExtreme ? sortedBy(this.#builder, column, this.#column(column)) : this.#column(column);
    const name = { sum: "sum", avg: "sum", min: "min", max: "max", count: "count" }[of];
    const value = sql`${sql.raw(name)}(${of1})`;
    const text = isExact(column) ? this.#exact(value, of1, isExtreme) : value;
    return [text.as(`v${index}`), sql`count(${of1})`.as(`n${index}`)];
  };

  /** SQLite's sums have 64 bits, so the upper and lower halves are added up separately, which do not overflow. */
  #exact(value: RawBuilder<unknown>, column: RawBuilder<unknown>, isExtreme: boolean): RawBuilder<unknown> {
    const { sql, provider } = this.#builder;
    if (provider === "sqlite" && !isExtreme)
      return sql`cast(sum(${column} >> 32) as text) || ' ' || cast(sum(${column} & 4294967295) as text)`;
    return sql`cast(${value} as ${sql.raw(provider === "mysql" ? "char" : "text")})`;
  }

  #sorted(key: GroupKey): RawBuilder<unknown> {
    const { column, bucket } = key;
    const isWord = bucket === undefined && column.kind.column.words !== undefined;
    return isWord ? sortedBy(this.#builder, column, this.#column(column)) : this.key(key);
  }

  /** The number by which groups are tested and sorted. */
  #number(name: string): RawBuilder<unknown> {
    const { sql } = this.#builder;
    const { of, column } = this.#aggregate.measures.find((measure) => measure.name === name) as Measure;
    if (column === undefined) return sql`count(*)`;
    const value =
      of === "min" || of === "max" ? sortedBy(this.#builder, column, this.#column(column)) : this.#column(column);
    if (of === "avg") return sql`sum(${value}) * 1.0 / nullif(count(${value}), 0)`;
    return sql`${sql.raw(of)}(${value})`;
  }

  test(name: string, test: keyof typeof TESTS, value: number): RawBuilder<boolean> {
    const { sql } = this.#builder;
    return sql<boolean>`${this.#number(name)} ${sql.raw(TESTS[test])} ${sql.lit(value)}`;
  }

  order(name: string, direction: "asc" | "desc"): RawBuilder<unknown> {
    const { sql, provider } = this.#builder;
    const key = this.#aggregate.groups.find((group) => group.name === name);
    const value = key === undefined ? this.#number(name) : this.#sorted(key);
    // Null is the smallest value, as by default on other databases.
    const nulls = provider === "postgresql" ? (direction === "asc" ? " nulls first" : " nulls last") : "";
    return sql`${value} ${sql.raw(direction + nulls)}`;
  }
}

type Beginning = Bucket | "quarter of an hour";
type Written = (sql: SqlBuilder["sql"], column: RawBuilder<unknown>, zone: string) => RawBuilder<unknown>;

const PATTERNS: Readonly<Record<Provider, Readonly<Record<Beginning, Written>>>> = {
  postgresql: {
    year: postgresql("year"),
    quarter: postgresql("quarter"),
    month: postgresql("month"),
    week: postgresql("week"),
    day: postgresql("day"),
    hour: postgresql("hour", 'YYYY-MM-DD"T"HH24:MI'),
    "quarter of an hour": postgresql("hour"),
  },
  sqlite: {
    year: (sql, column) => sql`strftime('%Y-01-01', ${column})`,
    quarter: (sql, column) =>
      sql`strftime('%Y-', ${column}) || printf('%02d-01', (cast(strftime('%m', ${column}) as integer) - 1) / 3 * 3 + 1)`,
    month: (sql, column) => sql`strftime('%Y-%m-01', ${column})`,
    week: (sql, column) => sql`strftime('%Y-%m-%d', ${column}, 'weekday 0', '-6 days')`,
    day: (sql, column) => sql`strftime('%Y-%m-%d', ${column})`,
    hour: (sql, column) => sql`strftime('%Y-%m-%dT%H:00', ${column})`,
    "quarter of an hour": (sql, column) =>
      sql`strftime('%Y-%m-%dT%H:', ${column}) || printf('%02d', cast(strftime('%M', ${column}) as integer) / 15 * 15)`,
  },
  mysql: {
    year: (sql, column) => sql`date_format(${column}, '%Y-01-01')`,
    quarter: (sql, column) => sql`concat(year(${column}), '-', lpad(quarter(${column}) * 3 - 2, 2, '0'), '-01')`,
    month: (sql, column) => sql`date_format(${column}, '%Y-%m-01')`,
    week: (sql, column) => sql`date_format(date_sub(${column}, interval weekday(${column}) day), '%Y-%m-%d')`,
    day: (sql, column) => sql`date_format(${column}, '%Y-%m-%d')`,
    hour: (sql, column) => sql`date_format(${column}, '%Y-%m-%dT%H:00')`,
    "quarter of an hour": (sql, column) =>
      sql`concat(date_format(${column}, '%Y-%m-%dT%H:'), lpad(floor(minute(${column}) / 15) * 15, 2, '0'))`,
  },
};

/** Uses the seconds since 1970, which do not depend on the column's zone or the session's zone. */
function postgresql(part: string, format = "YYYY-MM-DD"): Written {
  return (sql, column, zone) => {
    const local = sql`to_timestamp(extract(epoch from ${column})::double precision) at time zone ${sql.lit(zone)}`;
    return sql`to_char(date_trunc(${sql.lit(part)}, ${local}), ${sql.lit(format)})`;
  };
}

/** The text of the start of a calendar period. */
function beginning(
  { provider, sql }: SqlBuilder,
  column: RawBuilder<unknown>,
  part: Beginning,
  zone: string,
): RawBuilder<unknown> {
  return PATTERNS[provider][part](sql, column, zone);
}
