import type { RawBuilder } from "kysely";
import type { ColumnDefinition, Provider } from "../../../entity/index.ts";
import type { SqlBuilder } from "./sql-builder.ts";

type Expression = (sql: SqlBuilder["sql"], value: RawBuilder<unknown>) => RawBuilder<unknown>;

/** What is read of a datetime or a time that may have more digits. */
const AS_READ: Readonly<Record<Provider, Readonly<Record<string, Expression>>>> = {
  postgresql: {
    DateTime: (sql, value) => sql`date_trunc('milliseconds', ${value})`,
    Time: (sql, value) => sql`date_trunc('milliseconds', ${value})`,
  },
  mysql: {
    DateTime: (sql, value) => sql`date_sub(${value}, interval microsecond(${value}) % 1000 microsecond)`,
    Time: (sql, value) => sql`substr(${value}, 1, 12)`,
  },
  sqlite: {
    // Programs write one with a space or a T, with any number of digits, with or without a zone.
    DateTime: (sql, value) =>
      sql`case when typeof(${value}) = 'text' then substr(replace(${value}, 'T', ' '), 1, 19) || '.' || substr(case when substr(${value}, 20, 1) = '.' then rtrim(substr(${value}, 21, 3), 'Z+-') else '' end || '000', 1, 3) else ${value} end`,
    Time: (sql, value) => sql`substr(${value}, 1, 12)`,
  },
};

type Writer = Pick<SqlBuilder, "sql" | "provider">;

/** What is read of the values of a column. @param value the column, as the statement calls it */
export function readAs(
  { sql, provider }: Writer,
  { kind, existing }: ColumnDefinition,
  value: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const asRead = existing === true ? AS_READ[provider][kind.column.scalar] : undefined;
  return asRead === undefined ? value : asRead(sql, value);
}

/** What the values of a column are sorted by: words by their place in the declaration, which a database may not know. */
export function sortedBy(builder: Writer, column: ColumnDefinition, value: RawBuilder<unknown>): RawBuilder<unknown> {
  const { words } = column.kind.column;
  if (words === undefined) return readAs(builder, column, value);
  const { sql, provider } = builder;
  const text = provider === "postgresql" ? sql`cast(${value} as text)` : value;
  const places = words.map((word, place) => sql`when ${sql.lit(word)} then ${sql.lit(place)}`);
  return sql`case when ${value} is null then null else case ${text} ${sql.join(places, sql` `)} else -1 end end`;
}

/** `readAs` for a value that a column is compared with: only SQLite, which compares texts, has several forms of one. */
export function comparedBy(builder: Writer, column: ColumnDefinition, value: RawBuilder<unknown>): RawBuilder<unknown> {
  return builder.provider === "sqlite" && column.kind.column.scalar === "DateTime"
    ? readAs(builder, column, value)
    : value;
}
