import { type ColumnDefinition, type ColumnType, MOST_OPEN_DIGITS, type Provider } from "../../../entity/index.ts";

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
    List: "jsonb",
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
    List: "array",
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
    List: "json",
    Bytes: "longblob",
  },
};

/**
 * Maximum precision of decimals that SQLite stores as integers, which it can sort and add up; longer ones are texts.
 */
const INTEGER_DIGITS = 18;

/** The type for the text of a decimal without a declared precision. */
const OPEN_TEXT = `varchar(${MOST_OPEN_DIGITS + 10})`;

/** Whether a decimal is stored as an integer in units of its last digit: 19.90 as 1990. */
export function isScaled({ precision }: ColumnType): boolean {
  return precision !== undefined && precision <= INTEGER_DIGITS;
}

/** The database's name of a column's type, in lower case (spec 2.2). */
export function columnTypeOf(column: ColumnType, provider: Provider): string {
  const { scalar, native, precision, scale, items } = column;
  if (items !== undefined && provider === "postgresql") return `${columnTypeOf(items, provider)}[]`;
  if (scalar === "Decimal") {
    if (provider === "sqlite") return isScaled(column) ? "bigint" : "text";
    if (precision === undefined) return provider === "mysql" ? OPEN_TEXT : TYPES[provider].Decimal;
    return `${TYPES[provider].Decimal}(${precision},${scale})`;
  }
  if (scalar === "Enum" && provider !== "sqlite") return enumOf(column.words ?? []);
  return (provider === "sqlite" ? undefined : native?.[provider]?.toLowerCase()) ?? TYPES[provider][scalar];
}

/** An enum with these values, in the format of catalogs. */
function enumOf(words: readonly string[]): string {
  return `enum(${words.map((word) => `'${word.replaceAll("'", "''")}'`).join(",")})`;
}

/** The values of an enum in a catalog; undefined for other types. */
function wordsOf(type: string): readonly string[] | undefined {
  if (!/^enum\(.*\)$/s.test(type)) return undefined;
  return [...type.matchAll(/'((?:[^']|'')*)'/g)].map(([, word = ""]) => word.replaceAll("''", "'"));
}

/** Whether an enum has all of these values. */
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
  // Eleven characters can hold every integer.
  if (from === "integer") return to === "real" || to === "double precision" || (after !== undefined && after >= 11);
  return false;
}

/**
 * Column types that store every value of a scalar without loss, by database. They include wider types: a later version
 * of the app may have widened the column. SQLite uses parts of the type's name.
 */
const FITTING: Readonly<
  Record<Provider, Readonly<Record<Exclude<Scalar, "String" | "Decimal" | "Enum" | "List">, RegExp>>>
> = {
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

/** Minimum capacity of MySQL's text types in characters. */
const MYSQL_TEXTS: Readonly<Record<string, number>> = {
  text: 16_383,
  mediumtext: 4_194_303,
  longtext: Number.POSITIVE_INFINITY,
};

/** The capacity of a column type in characters; undefined for types that do not return texts unchanged. */
function capacityOf(type: string, provider: Provider): number | undefined {
  if (provider === "sqlite") return /char|clob|text/.test(type) ? Number.POSITIVE_INFINITY : undefined;
  if (provider === "mysql" && MYSQL_TEXTS[type] !== undefined) return MYSQL_TEXTS[type];
  return type === "varchar" ? Number.POSITIVE_INFINITY : lengthOf(type);
}

/** Maximum number of characters of a field's values; infinite if not declared, or if they are not stored unchanged. */
function longestOf({ field }: ColumnDefinition): number {
  if (field === undefined || field.encrypted !== undefined || field.password !== undefined)
    return Number.POSITIVE_INFINITY;
  return (field.length ?? field.max)?.value ?? Number.POSITIVE_INFINITY;
}

function fitsDecimal(column: ColumnType, type: string, provider: Provider): boolean {
  const { precision, scale = 0 } = column;
  if (precision === undefined && provider === "mysql") return type === OPEN_TEXT || /text$/.test(type);
  if (provider === "sqlite") return isScaled(column) ? /int/.test(type) : /char|clob|text/.test(type);
  if (type === "numeric") return true; // any number of digits
  if (precision === undefined) return false;
  const [, digits, behind = 0] = /^(?:numeric|decimal)\((\d+)(?:,(\d+))?\)$/.exec(type) ?? [];
  return Number(behind) >= scale && Number(digits) - Number(behind) >= precision - scale;
}

/**
 * Column types accepted for existing tables: they return their values correctly, although they may not store all values
 * of the definition.
 */
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
 * Whether a column of this type can store the values of a definition without loss.
 * @param existing whether the table existed before the app, which then only needs to be readable
 */
export function fitsColumn(column: ColumnDefinition, type: string, provider: Provider, existing = false): boolean {
  const { items } = column.kind.column;
  if (items !== undefined) {
    if (provider !== "postgresql") return FITTING[provider].Json.test(type);
    const { field: _, ...one } = { ...column, kind: { ...column.kind, column: items } };
    return type.endsWith("[]") && fitsColumn(one, type.slice(0, -2), provider, existing);
  }
  if (existing && NEAR_ENOUGH[provider][column.kind.column.scalar]?.test(type) === true) return true;
  const { scalar } = column.kind.column;
  if (scalar === "Decimal") return fitsDecimal(column.kind.column, type, provider);
  if (scalar === "Enum" && provider !== "sqlite") return holdsWords(type, column.kind.column.words ?? []);
  if (scalar !== "String" && scalar !== "Enum")
    return FITTING[provider][scalar as Exclude<typeof scalar, "List">].test(type);
  const capacity = capacityOf(type, provider);
  const wanted = capacityOf(columnTypeOf(column.kind.column, provider), provider) as number;
  return capacity !== undefined && capacity >= Math.min(wanted, longestOf(column));
}
