import type { RawBuilder } from "kysely";
import type { ColumnDefinition, Provider } from "../../../entity/index.ts";
import type { SqlBuilder } from "./sql-builder.ts";

/**
 * What statements compare and sort in place of a column, or of a value for it: tables that were there before may hold
 * one value in several forms, or compare text by a collation of their own.
 */
export function comparable(
  builder: SqlBuilder,
  column: ColumnDefinition,
  value: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { sql, provider, inexact } = builder;
  if (inexact.has(column)) return exactly(builder, value);
  if (provider !== "sqlite" || column.existing !== true) return value;
  const { scalar } = column.kind.column;
  return scalar === "DateTime" ? sqliteMoment(sql, value) : scalar === "Time" ? sqliteTime(sql, value) : value;
}

/** Text of which "a", "A" and "a " are three values. */
function exactly({ sql, provider, collation }: SqlBuilder, value: RawBuilder<unknown>): RawBuilder<string> {
  if (provider === "postgresql") return sql`cast(${value} as text) collate "C"`;
  return sql`${value} collate ${sql.raw(collation ?? "binary")}`; // SQLite's
}

/** What patterns are compared with: PostgreSQL ignores case by the rules of a locale. */
export function searched(
  builder: SqlBuilder,
  column: ColumnDefinition,
  value: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { sql, provider, inexact } = builder;
  const isOwn = provider === "postgresql" && inexact.has(column);
  return isOwn ? sql`cast(${value} as text) collate "default"` : comparable(builder, column, value);
}

/**
 * A datetime of SQLite as ISO 8601 in UTC with milliseconds: "2024-05-31T12:00:00.250Z". It has texts with a space or a
 * "T", with a zone or without, with any number of digits behind the second, and milliseconds as numbers.
 */
function sqliteMoment(sql: SqlBuilder["sql"], value: RawBuilder<unknown>): RawBuilder<string> {
  // strftime would round what is behind the milliseconds, so it is cut off.
  const cut = sql`substr(${value}, 1, 23) || ltrim(substr(${value}, 24), '0123456789')`;
  return sql<string>`case when typeof(${value}) in ('integer', 'real') then strftime('%Y-%m-%dT%H:%M:%fZ', ${value} / 1000.0, 'unixepoch')
    when ${value} glob '0000-*' then '0001-01-01T00:00:00.000Z'
    when substr(${value}, 20, 4) glob '.[0-9][0-9][0-9]' then strftime('%Y-%m-%dT%H:%M:%fZ', ${cut})
    else strftime('%Y-%m-%dT%H:%M:%fZ', ${value}) end`;
}

/** A time of SQLite with milliseconds, "09:30:00.000"; it has texts without seconds, and with any number of digits behind them. */
function sqliteTime(sql: SqlBuilder["sql"], value: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`case length(${value}) when 5 then ${value} || ':00.000' when 8 then ${value} || '.000'
    else substr(${value} || '00', 1, 12) end`;
}

/** What is read of a column: text where MySQL may have datetimes of zeros, which its adapter cannot read. */
export function readOf(
  { sql, provider }: SqlBuilder,
  { existing, kind }: ColumnDefinition,
  value: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const isText = provider === "mysql" && existing === true && kind.column.scalar === "DateTime";
  return isText ? sql`cast(${value} as char)` : value;
}

/** What a column is sorted by: words by their place in the declaration, which a database may not know. */
export function sortedBy(
  builder: SqlBuilder,
  column: ColumnDefinition,
  value: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { words } = column.kind.column;
  if (words === undefined) return comparable(builder, column, value);
  const { sql, provider } = builder;
  const text = provider === "postgresql" ? sql`cast(${value} as text)` : value;
  const places = words.map((word, place) => sql`when ${sql.lit(word)} then ${sql.lit(place)}`);
  return sql`case when ${value} is null then null else case ${text} ${sql.join(places, sql` `)} else -1 end end`;
}

type Expression = (sql: SqlBuilder["sql"], value: RawBuilder<unknown>) => RawBuilder<unknown>;

const WITHOUT_MICROSECONDS: Readonly<Partial<Record<Provider, Readonly<Record<string, Expression>>>>> = {
  postgresql: {
    DateTime: (sql, value) => sql`date_trunc('milliseconds', ${value})`,
    Time: (sql, value) => sql`date_trunc('milliseconds', ${value})`,
  },
  mysql: { DateTime: (sql, value) => sql`date_sub(${value}, interval microsecond(${value}) % 1000 microsecond)` },
};

/** What a column is grouped by: what is read of it, where existing tables have datetimes and times of more digits. */
export function groupedBy(
  builder: SqlBuilder,
  column: ColumnDefinition,
  value: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { scalar } = column.kind.column;
  const cut = column.existing === true ? WITHOUT_MICROSECONDS[builder.provider]?.[scalar] : undefined;
  return cut === undefined ? comparable(builder, column, value) : cut(builder.sql, value);
}
