import {
  type AnyEntity,
  type ColumnDefinition,
  type ColumnType,
  datetimeKind,
  type FieldKind,
  type Provider,
} from "../../../entity/index.ts";
import type { Row } from "../../../gate/index.ts";
import { type Codec, type CodecOf, converted, same, types } from "./codec.ts";
import { decimal, mysqlDecimal, plainDecimal, sqliteDecimal } from "./decimal-codec.ts";

type Scalar = ColumnType["scalar"];

/** Parses JSON, which adapters return as text. SQLite returns a single number as a number. */
function fromJson(value: unknown): unknown {
  return typeof value === "string" ? JSON.parse(value) : value;
}

const text: CodecOf = (kind) => ({ ...types("string"), encode: (value) => converted(kind, value) });

/** The forms in which databases write infinite dates, years before Christ, and years of more than four digits. */
const BEFORE = /^-|^0000|\bBC$/;
const BEHIND = /^infinity|^\d{5}/;

/**
 * Replaces a value of an existing table that is outside the range of its kind with the first or last value of the kind.
 */
function withinBounds<T>({ bounds }: Pick<FieldKind<T>, "bounds">, value: T, written: string): T {
  if (bounds === undefined) return value;
  return BEFORE.test(written) ? bounds[0] : BEHIND.test(written) ? bounds[1] : value;
}

const DAY_LENGTH = 10;
const date: CodecOf = (kind) => ({
  ...text(kind),
  decode: (value) =>
    typeof value !== "string" || (value.length === DAY_LENGTH && !value.startsWith("0000"))
      ? value
      : withinBounds(kind, value, value),
});

const bigint: CodecOf = (kind) => ({
  ...types("bigint"),
  encode: (value) => String(converted(kind, value)),
  decode: (value) => BigInt(value as string | number | bigint),
});

/** Databases return times with as many fractional digits as the column has, or with zeros only; three are read. */
const time: CodecOf = (kind) => ({ ...text(kind), decode: (value) => converted(kind, String(value).slice(0, 12)) });

const bytes: Codec = {
  ...types("bytes"),
  encode: (value) => Buffer.from(value as Uint8Array),
  decode: (value) => new Uint8Array(value instanceof ArrayBuffer ? value : (value as Uint8Array)),
};

/** PostgreSQL also accepts and returns bytes as text: "\\x0aff". */
const HEX_BYTES: Codec = {
  ...types("string"),
  encode: (value) => `\\x${Buffer.from(value as Uint8Array).toString("hex")}`,
  decode: (value) =>
    typeof value === "string" ? new Uint8Array(Buffer.from(value.slice(2), "hex")) : bytes.decode?.(value),
};

/** The codec of the items of a list. */
function itemCodec(provider: Provider, { column, item }: FieldKind): Codec {
  const kind = item ?? ({ column } as FieldKind);
  const codec = CODECS[provider][kind.column.scalar];
  return typeof codec === "function" ? codec(kind) : codec;
}

/** Readers of items that adapters return in a form other than single values. */
const LIST_READERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  DateTime: plainMoment,
  Boolean: (value) => value === true || value === "t",
};

/** Arrays of PostgreSQL. Adapters return arrays of enums as text. */
const nativeList: CodecOf = (kind) => {
  const { listType, encode, decode } = itemCodec("postgresql", kind);
  const read = LIST_READERS[kind.item?.column.scalar ?? ""] ?? decode;
  return {
    type: listType,
    listType,
    encode: (values) => (converted(kind, values) as readonly unknown[]).map(encode),
    decode(values) {
      const items = Array.isArray(values) ? values : itemsOf(String(values));
      return read === undefined ? items : items.map((item) => (item === null ? null : read(item)));
    },
  };
};

/** Parses an array in PostgreSQL's text format: `{a,"b c"}`. */
function itemsOf(text: string): (string | null)[] {
  return [...text.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|[^,]+/g)].map(([plain, quoted]) =>
    quoted === undefined ? (plain === "NULL" ? null : plain) : quoted.replaceAll(/\\(.)/g, "$1"),
  );
}

/** Lists as JSON, each item in its JSON form. */
const jsonList: CodecOf = (kind) => ({
  ...types("json"),
  encode: (values) => jsonOfItems(kind, values),
  decode: (value) => converted(kind, fromJson(value)),
});

/** The JSON of a list, or of items to search for in a list. */
export function jsonOfItems(kind: FieldKind, values: unknown): string {
  const items = converted(kind, values);
  return JSON.stringify(kind.toWire?.(items) ?? items);
}

/** Existing SQLite tables may have texts in numeric columns. */
function toNumber(value: unknown): number {
  return value === "" ? Number.NaN : Number(value);
}

const COMMON: Readonly<Record<Scalar, Codec | CodecOf>> = {
  BigInt: bigint,
  Decimal: decimal,
  Date: date,
  Time: time,
  Uuid: text,
  Bytes: bytes,
  String: { ...types("string"), encode: same },
  Enum: { ...types("string"), encode: same },
  Int: { ...types("int"), encode: same, decode: toNumber },
  // Converts -0 to 0: SQLite has no -0, and Prisma's client sends none.
  Float: { ...types("float"), encode: (value) => (value as number) + 0, decode: toNumber },
  Boolean: { ...types("boolean"), encode: same },
  DateTime: { ...types("datetime"), encode: (value) => new Date(value as Date) },
  List: jsonList,
  Json: { ...types("json"), encode: (value) => JSON.stringify(value), decode: fromJson },
};

/** For databases without booleans: 0 and 1. */
const NUMERIC_BOOLEAN: Codec = {
  ...types("int"),
  encode: Number,
  decode: (value) => value === true || Number(value) === 1,
};

/** Without a zone, since the columns store UTC. */
const TEXT_MOMENT: Codec = {
  ...types("string"),
  encode: (value) => (value as Date).toISOString().slice(0, 23).replace("T", " "),
};

/** With the zone UTC. Columns without a zone ignore it; columns with one would otherwise use the session's zone. */
const ZONED_MOMENT: Codec = {
  ...types("string"),
  encode: (value) => `${(value as Date).toISOString().slice(0, 23).replace("T", " ")}+00`,
};

const CODECS: Readonly<Record<Provider, Readonly<Record<Scalar, Codec | CodecOf>>>> = {
  sqlite: { ...COMMON, Boolean: NUMERIC_BOOLEAN, Decimal: sqliteDecimal },
  postgresql: { ...COMMON, DateTime: ZONED_MOMENT, Bytes: HEX_BYTES, List: nativeList },
  mysql: { ...COMMON, Boolean: NUMERIC_BOOLEAN, DateTime: TEXT_MOMENT, Decimal: mysqlDecimal },
};

/** The codec of a column. */
export function codecOf(provider: Provider, { kind, existing }: ColumnDefinition): Codec {
  if (existing === true && kind.column.scalar === "Decimal")
    return provider === "sqlite" ? plainDecimal(kind) : decimal(kind);
  const codec = CODECS[provider][kind.column.scalar];
  return typeof codec === "function" || kind.toStored !== undefined ? codecOfKind(provider, kind, codec) : codec;
}

const made: Readonly<Record<Provider, WeakMap<FieldKind, Codec>>> = {
  sqlite: new WeakMap(),
  postgresql: new WeakMap(),
  mysql: new WeakMap(),
};

function codecOfKind(provider: Provider, kind: FieldKind, by: Codec | CodecOf): Codec {
  const known = made[provider].get(kind);
  if (known !== undefined) return known;
  const codec = kind.toStored === undefined ? plainCodec(kind, by) : storedCodec(kind, by);
  made[provider].set(kind, codec);
  return codec;
}

function plainCodec(kind: FieldKind, by: Codec | CodecOf): Codec {
  return typeof by === "function" ? by(kind) : by;
}

/** The codec of a kind whose stored values differ from its values in code. */
function storedCodec(kind: FieldKind, by: Codec | CodecOf): Codec {
  const { toStored = same, fromStored = same, convert: _, ...stored } = kind;
  const { encode, decode = same, ...types } = plainCodec(stored, by);
  return {
    ...types,
    encode: (value) => encode(toStored(converted(kind, value))),
    decode: (value) => fromStored(decode(value)),
  };
}

/** The form of a list in a statement: one parameter, or this number of parameters. */
export type ListForm = "array" | "json" | number;

/** Longer lists are sent as JSON if that preserves their values, since databases limit the number of parameters. */
const MAX_PARAMETERS = 8_192;

/**
 * Uses one parameter if the database can take a list from it, because then one statement serves lists of any length.
 * Otherwise the number of parameters is a power of two, padded with the last value, so that there are few different
 * statements.
 */
export function listForm(provider: Provider, { kind }: ColumnDefinition, length: number): ListForm {
  if (provider === "postgresql") return "array";
  const { scalar } = kind.column;
  // Texts and integers are the same in JSON; datetimes depend on the adapter's configuration, and decimals would be
  // rounded.
  if (provider === "sqlite" && (scalar === "String" || scalar === "Enum" || scalar === "Int")) return "json";
  const isLong = length > MAX_PARAMETERS && (provider === "sqlite" || scalar === "String");
  return isLong ? "json" : 2 ** Math.ceil(Math.log2(length));
}

/** Encodes the values of a list for a form, one per parameter. */
export function listValues(
  provider: Provider,
  column: ColumnDefinition,
  values: readonly unknown[],
  form: ListForm,
): unknown[] {
  const { encode } = codecOf(provider, column);
  const encoded = values.map(encode);
  if (form === "array") return [encoded];
  if (form === "json") return [JSON.stringify(encoded.map(jsonMember))];
  const last = encoded.at(-1);
  while (encoded.length < form) encoded.push(last);
  return encoded;
}

/** The form in which Prisma's adapters store datetimes in SQLite. */
function jsonMember(value: unknown): unknown {
  return value instanceof Date ? value.toISOString().replace("Z", "+00:00") : value;
}

/** Reads datetimes. */
export interface Moments {
  /** Converts the text or number of a database or its adapter to a datetime. */
  readonly read: (value: unknown) => Date | null;
  /** Converts it to its JSON text. Absent if datetimes are never texts. */
  readonly toText: ((value: unknown) => string | null) | undefined;
}

const ZONE = /(?:Z|[+-]\d\d(?::?\d\d)?)$/;

/**
 * Parses a datetime. PostgreSQL's has a space in the middle, and no zone: its columns store UTC.
 * @returns null for texts of existing tables that are not datetimes, such as an empty one
 */
export function plainMoment(value: unknown): Date | null {
  if (typeof value !== "string") return new Date(value as number);
  const date = new Date(value.charAt(10) === " " && !ZONE.test(value) ? `${value.replace(" ", "T")}Z` : value);
  if (datetimeKind.accepts(date)) return date;
  const bound = withinBounds(datetimeKind, date, value);
  return Number.isNaN(bound.getTime()) ? null : bound;
}

/**
 * Makes a record from the values of a row, which are in the order of the columns.
 * @param first the index of the first value
 */
export type RowDecoder = (values: readonly unknown[], first: number) => Row;

/** Makes a decoder for rows with these columns. @param asText whether datetimes may be texts */
export function rowDecoder(
  provider: Provider,
  entity: AnyEntity,
  names: readonly string[],
  { read, toText }: Moments,
  asText: boolean,
): RowDecoder {
  const readMoment = (asText ? toText : undefined) ?? read;
  const columns = names.map((name) => {
    const column = entity.columns[name] as ColumnDefinition;
    const isMoment = column.kind.column.scalar === "DateTime";
    return [name, isMoment ? readMoment : codecOf(provider, column).decode] as const;
  });
  return (values, first) => {
    const row: Row = {};
    for (let index = 0; index < columns.length; index++) {
      const [name, decode] = columns[index] as (typeof columns)[number];
      const value = values[first + index];
      row[name] = value === null || decode === undefined ? value : decode(value);
    }
    return row;
  };
}
