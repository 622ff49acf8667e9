import type { RawBuilder } from "kysely";
import type { ColumnDefinition, Provider } from "../../../entity/index.ts";
import type { SqlBuilder } from "./sql-builder.ts";

/**
 * The expression that statements compare and sort instead of a column or a value: existing tables may store one value
 * in several forms, or compare text with their own collation.
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

/** Text that compares exactly, so that "a", "A" and "a " differ. */
function exactly({ sql, provider, collation }: SqlBuilder, value: RawBuilder<unknown>): RawBuilder<string> {
  if (provider === "postgresql") return sql`cast(${value} as text) collate "C"`;
  return sql`${value} collate ${sql.raw(collation ?? "binary")}`; // SQLite's collation
}

/** The expression that patterns are compared with: PostgreSQL ignores case by the rules of a locale. */
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
 * Converts a datetime of SQLite to ISO 8601 in UTC with milliseconds: "2024-05-31T12:00:00.250Z". It may be stored as
 * text with a space or a "T", with or without a zone, with any number of fractional digits, or as a number of
 * milliseconds.
 */
function sqliteMoment(sql: SqlBuilder["sql"], value: RawBuilder<unknown>): RawBuilder<string> {
  // Digits after the milliseconds are cut off, because strftime would round.
  const cut = sql`substr(${value}, 1, 23) || ltrim(substr(${value}, 24), '0123456789')`;
  return sql<string>`case when typeof(${value}) in ('integer', 'real') then strftime('%Y-%m-%dT%H:%M:%fZ', ${value} / 1000.0, 'unixepoch')
    when ${value} glob '0000-*' then '0001-01-01T00:00:00.000Z'
    when substr(${value}, 20, 4) glob '.[0-9][0-9][0-9]' then strftime('%Y-%m-%dT%H:%M:%fZ', ${cut})
    else strftime('%Y-%m-%dT%H:%M:%fZ', ${value}) end`;
}

/**
 * Converts a time of SQLite to milliseconds: "09:30:00.000". It may be stored without seconds, and with any number of
 * fractional digits.
 */
function sqliteTime(sql: SqlBuilder["sql"], value: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`case length(${value}) when 5 then ${value} || ':00.000' when 8 then ${value} || '.000'
    else substr(${value} || '00', 1, 12) end`;
}

/** The expression that is read for a column: text if MySQL may store zero datetimes, which its adapter cannot read. */
export function readOf(
  { sql, provider }: SqlBuilder,
  { existing, kind }: ColumnDefinition,
  value: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const isText = provider === "mysql" && existing === true && kind.column.scalar === "DateTime";
  return isText ? sql`cast(${value} as char)` : value;
}

/**
 * The expression that a column is sorted by. Enum values sort by their position in the declaration, which a database
 * may not know.
 */
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

/**
 * The expression that a column is grouped by. Digits that are not read are cut off, for datetimes and times of existing
 * tables.
 */
export function groupedBy(
  builder: SqlBuilder,
  column: ColumnDefinition,
  value: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const { scalar } = column.kind.column;
  const cut = column.existing === true ? WITHOUT_MICROSECONDS[builder.provider]?.[scalar] : undefined;
  return cut === undefined ? comparable(builder, column, value) : cut(builder.sql, value);
}
