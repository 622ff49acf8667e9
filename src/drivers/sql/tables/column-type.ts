import type { ColumnDefinition, ColumnType, Provider } from "../../../entity/index.ts";

type Scalar = ColumnType["scalar"];

const TYPES: Readonly<Record<Provider, Readonly<Record<Scalar, string>>>> = {
  sqlite: { String: "text", Int: "integer", Float: "real", Boolean: "boolean", DateTime: "datetime", Json: "jsonb" },
  postgresql: {
    String: "text",
    Int: "integer",
    Float: "double precision",
    Boolean: "boolean",
    DateTime: "timestamp(3)",
    Json: "jsonb",
  },
  mysql: { String: "text", Int: "int", Float: "double", Boolean: "tinyint(1)", DateTime: "datetime(3)", Json: "json" },
};

/** What the database calls the type of a column, in small letters (spec 2.2). */
export function columnTypeOf({ scalar, native }: ColumnType, provider: Provider): string {
  return (provider === "sqlite" ? undefined : native?.[provider]?.toLowerCase()) ?? TYPES[provider][scalar];
}

function lengthOf(type: string): number | undefined {
  if (type === "text") return Number.POSITIVE_INFINITY;
  const length = /^varchar\((\d+)\)$/.exec(type)?.[1];
  return length === undefined ? undefined : Number(length);
}

/** Whether one type can hold every value of another, so that a change loses nothing. */
export function isWidening(from: string, to: string): boolean {
  const [before, after] = [lengthOf(from), lengthOf(to)];
  if (before !== undefined && after !== undefined) return before <= after;
  // Eleven characters hold every one of them.
  if (from === "integer") return to === "real" || to === "double precision" || (after !== undefined && after >= 11);
  return false;
}

/**
 * Types that hold every value of a scalar and give it back as it was, as each database writes them. Wider ones are among
 * them: a later version of the app may have made a column so. SQLite goes by parts of the name.
 */
const FITTING: Readonly<Record<Provider, Readonly<Record<Exclude<Scalar, "String">, RegExp>>>> = {
  sqlite: {
    Int: /int/,
    Float: /real|floa|doub|numeric|decimal/,
    Boolean: /bool|int/,
    DateTime: /^(datetime|timestamp|text)/,
    Json: /^jsonb?$|char|clob|text/,
  },
  postgresql: {
    Int: /^(integer|bigint)$/,
    Float: /^(double precision|numeric)$/,
    Boolean: /^boolean$/,
    DateTime: /^timestamp(\([3-6]\))?$/,
    Json: /^jsonb?$/,
  },
  mysql: {
    Int: /^(int|bigint)(\(\d+\))?$/,
    Float: /^double$/,
    Boolean: /^tinyint(\(\d+\))?$/,
    DateTime: /^datetime\([3-6]\)$/,
    Json: /^(json|longtext)$/,
  },
};

/** Characters that the texts of MySQL hold at least. */
const MYSQL_TEXTS: Readonly<Record<string, number>> = {
  text: 16_383,
  mediumtext: 4_194_303,
  longtext: Number.POSITIVE_INFINITY,
};

/** Characters that a column of this type holds; undefined for one that does not give back texts as they are. */
function capacityOf(type: string, provider: Provider): number | undefined {
  if (provider === "sqlite") return /char|clob|text/.test(type) ? Number.POSITIVE_INFINITY : undefined;
  if (provider === "mysql" && MYSQL_TEXTS[type] !== undefined) return MYSQL_TEXTS[type];
  return type === "varchar" ? Number.POSITIVE_INFINITY : lengthOf(type);
}

/** Characters that values of a field may have, where it says so and they are stored as they are. */
function longestOf({ field }: ColumnDefinition): number {
  if (field === undefined || field.encrypted !== undefined || field.password !== undefined)
    return Number.POSITIVE_INFINITY;
  return (field.length ?? field.max)?.value ?? Number.POSITIVE_INFINITY;
}

/** Whether a column of this type can take the values of a definition and give them back. */
export function fitsColumn(column: ColumnDefinition, type: string, provider: Provider): boolean {
  const { scalar } = column.kind.column;
  if (scalar !== "String") return FITTING[provider][scalar].test(type);
  const capacity = capacityOf(type, provider);
  const wanted = capacityOf(columnTypeOf(column.kind.column, provider), provider) as number;
  return capacity !== undefined && capacity >= Math.min(wanted, longestOf(column));
}
