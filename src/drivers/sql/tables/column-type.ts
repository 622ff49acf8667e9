import type { ColumnDefinition, ColumnType, Provider } from "../../../entity/index.ts";

type Scalar = ColumnType["scalar"];

const TYPES: Readonly<Record<Provider, Readonly<Record<Scalar, string>>>> = {
  sqlite: {
    String: "text",
    Enum: "text",
    Int: "integer",
    BigInt: "bigint",
    Float: "real",
    Decimal: "text",
    Boolean: "boolean",
    DateTime: "datetime",
    Date: "text",
    Time: "text",
    Uuid: "text",
    Json: "jsonb",
    Bytes: "blob",
  },
  postgresql: {
    String: "text",
    Enum: "enum",
    Int: "integer",
    BigInt: "bigint",
    Float: "double precision",
    Decimal: "numeric",
    Boolean: "boolean",
    DateTime: "timestamp(3)",
    Date: "date",
    Time: "time(3)",
    Uuid: "uuid",
    Json: "jsonb",
    Bytes: "bytea",
  },
  mysql: {
    String: "text",
    Enum: "enum",
    Int: "int",
    BigInt: "bigint",
    Float: "double",
    Decimal: "decimal",
    Boolean: "tinyint(1)",
    DateTime: "datetime(3)",
    Date: "date",
    Time: "time(3)",
    Uuid: "char(36)",
    Json: "json",
    Bytes: "longblob",
  },
};

/** Digits of decimals that SQLite keeps as a whole number, which it sorts and adds up; longer ones are text. */
const INTEGER_DIGITS = 18;

/** Whether a decimal is kept as the whole number of its last digits: 19.90 as 1990. */
export function isScaled({ precision = 0 }: ColumnType): boolean {
  return precision <= INTEGER_DIGITS;
}

/** What the database calls the type of a column, in small letters (spec 2.2). */
export function columnTypeOf(column: ColumnType, provider: Provider): string {
  const { scalar, native, precision, scale } = column;
  if (scalar === "Decimal") {
    if (provider === "sqlite") return isScaled(column) ? "bigint" : "text";
    return `${TYPES[provider].Decimal}(${precision},${scale})`;
  }
  if (scalar === "Enum" && provider !== "sqlite") return enumOf(column.words ?? []);
  return (provider === "sqlite" ? undefined : native?.[provider]?.toLowerCase()) ?? TYPES[provider][scalar];
}

/** An enum with these words, as catalogs describe it. */
function enumOf(words: readonly string[]): string {
  return `enum(${words.map((word) => `'${word.replaceAll("'", "''")}'`).join(",")})`;
}

/** The words of an enum that a catalog describes; undefined for another type. */
function wordsOf(type: string): readonly string[] | undefined {
  if (!/^enum\(.*\)$/s.test(type)) return undefined;
  return [...type.matchAll(/'((?:[^']|'')*)'/g)].map(([, word = ""]) => word.replaceAll("''", "'"));
}

/** Whether an enum, or a text, holds all words of another. */
function holdsWords(type: string, words: readonly string[]): boolean {
  const known = wordsOf(type);
  return known !== undefined && words.every((word) => known.includes(word));
}

function lengthOf(type: string): number | undefined {
  if (type === "text") return Number.POSITIVE_INFINITY;
  const length = /^varchar\((\d+)\)$/.exec(type)?.[1];
  return length === undefined ? undefined : Number(length);
}

/** Whether one type can hold every value of another, so that a change loses nothing. */
export function isWidening(from: string, to: string): boolean {
  const words = wordsOf(from);
  if (words !== undefined) return holdsWords(to, words);
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
const FITTING: Readonly<Record<Provider, Readonly<Record<Exclude<Scalar, "String" | "Decimal" | "Enum">, RegExp>>>> = {
  sqlite: {
    Int: /int/,
    BigInt: /int/,
    Date: /^(date|text|varchar|char)/,
    Time: /^(time|text|varchar|char)/,
    Uuid: /^(uuid|text|varchar|char)/,
    Bytes: /blob|^$/,
    Float: /real|floa|doub|numeric|decimal/,
    Boolean: /bool|int/,
    DateTime: /^(datetime|timestamp|text)/,
    Json: /^jsonb?$|char|clob|text/,
  },
  postgresql: {
    Int: /^(integer|bigint)$/,
    BigInt: /^bigint$/,
    Date: /^date$/,
    Time: /^time(\([3-6]\))?$/,
    Uuid: /^uuid$/,
    Bytes: /^bytea$/,
    Float: /^(double precision|numeric)$/,
    Boolean: /^boolean$/,
    DateTime: /^timestamp(\([3-6]\))?$/,
    Json: /^jsonb?$/,
  },
  mysql: {
    Int: /^(int|bigint)(\(\d+\))?$/,
    BigInt: /^bigint(\(\d+\))?$/,
    Date: /^date$/,
    Time: /^time\([3-6]\)$/,
    Uuid: /^(char\(36\)|varchar\(\d+\)|uuid)$/,
    Bytes: /^(medium|long)?blob$/,
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

function fitsDecimal(column: ColumnType, type: string, provider: Provider): boolean {
  const { precision = 0, scale = 0 } = column;
  if (provider === "sqlite") return isScaled(column) ? /int/.test(type) : /char|clob|text/.test(type);
  if (type === "numeric") return true; // any number of digits
  const [, digits, behind = 0] = /^(?:numeric|decimal)\((\d+)(?:,(\d+))?\)$/.exec(type) ?? [];
  return Number(behind) >= scale && Number(digits) - Number(behind) >= precision - scale;
}

/** Types of existing tables that give their values back, although they may not take all of a definition's. */
const NEAR_ENOUGH: Readonly<Record<Provider, Readonly<Partial<Record<Scalar, RegExp>>>>> = {
  sqlite: {
    String: /^$|.*/,
    Decimal: /num|dec|int|real|floa|doub|money/,
    DateTime: /date|time|text|char/,
    Uuid: /.*/,
    Boolean: /bool|int|num/,
  },
  postgresql: {
    String: /^(text|varchar|bpchar|char\(|character\(|citext|name|varchar\(\d+\))/,
    Int: /^smallint$/,
    BigInt: /^(integer|smallint)$/,
    Float: /^real$/,
    Decimal: /^numeric/,
    DateTime: /^timestamp(\(\d\))?( with time zone)?$/,
    Time: /^time(\(\d\))?$/,
  },
  mysql: {
    String: /char|text|enum|set/,
    Int: /^(small|medium|tiny)?int/,
    BigInt: /int/,
    Float: /^(float|decimal)/,
    Decimal: /^decimal/,
    Boolean: /^(tinyint|bit\(1\))/,
    DateTime: /^(datetime|timestamp)/,
    Time: /^time/,
    Uuid: /char|uuid/,
    Bytes: /blob|binary/,
  },
};

/**
 * Whether a column of this type can take the values of a definition and give them back.
 * @param existing whether the table was there before the app, whose values are then its own business
 */
export function fitsColumn(column: ColumnDefinition, type: string, provider: Provider, existing = false): boolean {
  if (existing && NEAR_ENOUGH[provider][column.kind.column.scalar]?.test(type) === true) return true;
  const { scalar } = column.kind.column;
  if (scalar === "Decimal") return fitsDecimal(column.kind.column, type, provider);
  if (scalar === "Enum" && provider !== "sqlite") return holdsWords(type, column.kind.column.words ?? []);
  if (scalar !== "String" && scalar !== "Enum") return FITTING[provider][scalar].test(type);
  const capacity = capacityOf(type, provider);
  const wanted = capacityOf(columnTypeOf(column.kind.column, provider), provider) as number;
  return capacity !== undefined && capacity >= Math.min(wanted, longestOf(column));
}
