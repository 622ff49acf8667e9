import type { ArgType } from "@prisma/driver-adapter-utils";
import type { AnyEntity, ColumnDefinition, ColumnType, FieldKind, Provider } from "../../../entity/index.ts";
import type { Row } from "../../../gate/index.ts";
import { isScaled } from "../tables/column-type.ts";

/** How values of a column travel to the database and back. */
export interface Codec {
  /** The adapter's type of a value. */
  readonly type: ArgType;
  /** The adapter's type of a list, where one parameter holds a list. */
  readonly listType: ArgType;
  /** A value for the adapter; a copy, so that the caller may change the original later. @param value is not null */
  encode(value: unknown): unknown;
  /** Absent when values come as they are, and for datetimes. @param value is not null */
  readonly decode?: (value: unknown) => unknown;
}

type Scalar = ColumnType["scalar"];

function types(scalarType: ArgType["scalarType"]): Pick<Codec, "type" | "listType"> {
  return {
    type: Object.freeze({ scalarType, arity: "scalar" }),
    listType: Object.freeze({ scalarType, arity: "list" }),
  };
}

const same = (value: unknown): unknown => value;

/** Adapters hand JSON over as text; SQLite keeps a number alone as a number. */
function fromJson(value: unknown): unknown {
  return typeof value === "string" ? JSON.parse(value) : value;
}

/** A value in the form of its kind; drivers refuse those without one before. */
function converted({ convert }: FieldKind, value: unknown): unknown {
  const found = convert?.(value);
  return found?.ok === true ? found.value : value;
}

/** The codec of columns that hold values in the form of their kind. */
type CodecOf = (kind: FieldKind) => Codec;

const text: CodecOf = (kind) => ({ ...types("string"), encode: (value) => converted(kind, value) });

const bigint: CodecOf = (kind) => ({
  ...types("bigint"),
  encode: (value) => String(converted(kind, value)),
  decode: (value) => BigInt(value as string | number | bigint),
});

/** Databases write as many digits behind the point as the column has. */
const decimal: CodecOf = (kind) => ({
  ...types("decimal"),
  encode: (value) => converted(kind, value),
  decode: (value) => converted(kind, String(value)),
});

/** Times come with as many digits behind the second as the column has, or with zeros alone; three are read. */
const time: CodecOf = (kind) => ({ ...text(kind), decode: (value) => converted(kind, String(value).slice(0, 12)) });

const bytes: Codec = {
  ...types("bytes"),
  encode: (value) => Buffer.from(value as Uint8Array),
  decode: (value) => new Uint8Array(value instanceof ArrayBuffer ? value : (value as Uint8Array)),
};

/** PostgreSQL reads and writes bytes as text, too: "\\x0aff". */
const HEX_BYTES: Codec = {
  ...types("string"),
  encode: (value) => `\\x${Buffer.from(value as Uint8Array).toString("hex")}`,
  decode: (value) =>
    typeof value === "string" ? new Uint8Array(Buffer.from(value.slice(2), "hex")) : bytes.decode?.(value),
};

/** SQLite has no decimals: they are whole numbers of their last digits, or texts in the order of their values. */
const sqliteDecimal: CodecOf = (kind) => {
  const { scale = 0, precision = 0 } = kind.column;
  if (!isScaled(kind.column)) {
    const width = precision + (scale === 0 ? 0 : 1);
    return {
      ...types("string"),
      encode: (value) => toOrderedText(converted(kind, value) as string, width),
      decode: (value) => fromOrderedText(value as string),
    };
  }
  return {
    ...types("bigint"),
    encode: (value) => (converted(kind, value) as string).replace(".", ""),
    decode(value) {
      const [, sign, digits] = /^(-?)(\d+)$/.exec(String(value)) as unknown as [string, string, string];
      const all = digits.padStart(scale + 1, "0");
      return scale === 0 ? `${sign}${all}` : `${sign}${all.slice(0, -scale)}.${all.slice(-scale)}`;
    },
  };
};

/** Decimals of existing tables of SQLite, which are doubles: as many digits as those have. */
const plainDecimal: CodecOf = (kind) => ({
  ...types("float"),
  encode: (value) => Number(converted(kind, value)),
  decode: (value) => converted(kind, typeof value === "number" ? value.toFixed(kind.column.scale) : String(value)),
});

const NINES: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from({ length: 10 }, (_, digit) => [String(digit), String(9 - digit)]),
);
const complement = (text: string): string => text.replace(/\d/g, (digit) => NINES[digit] as string);

/** A decimal as text that sorts like the number: of one width, and negative ones with each digit taken from nine. */
function toOrderedText(decimal: string, width: number): string {
  const isNegative = decimal.startsWith("-");
  const digits = (isNegative ? decimal.slice(1) : decimal).padStart(width, "0");
  return isNegative ? `0${complement(digits)}` : `1${digits}`;
}

function fromOrderedText(text: string): string {
  const isNegative = text.startsWith("0");
  const digits = (isNegative ? complement(text.slice(1)) : text.slice(1)).replace(/^0+(?=\d)/, "");
  return `${isNegative ? "-" : ""}${digits}`;
}

const COMMON: Readonly<Record<Scalar, Codec | CodecOf>> = {
  BigInt: bigint,
  Decimal: decimal,
  Date: text,
  Time: time,
  Uuid: text,
  Bytes: bytes,
  String: { ...types("string"), encode: same },
  Enum: { ...types("string"), encode: same },
  Int: { ...types("int"), encode: same, decode: Number },
  // -0 becomes 0: SQLite has only that, and Prisma's client sends no other.
  Float: { ...types("float"), encode: (value) => (value as number) + 0, decode: Number },
  Boolean: { ...types("boolean"), encode: same },
  DateTime: { ...types("datetime"), encode: (value) => new Date(value as Date) },
  Json: { ...types("json"), encode: (value) => JSON.stringify(value), decode: fromJson },
};

/** They have no Booleans; 0 and 1 stand for them. */
const NUMERIC_BOOLEAN: Codec = {
  ...types("int"),
  encode: Number,
  decode: (value) => value === true || Number(value) === 1,
};

/** Without a zone: the columns keep UTC. */
const TEXT_MOMENT: Codec = {
  ...types("string"),
  encode: (value) => (value as Date).toISOString().slice(0, 23).replace("T", " "),
};

/** In UTC. Columns without a zone ignore it; those with one would take the session's. */
const ZONED_MOMENT: Codec = {
  ...types("string"),
  encode: (value) => `${(value as Date).toISOString().slice(0, 23).replace("T", " ")}+00`,
};

const CODECS: Readonly<Record<Provider, Readonly<Record<Scalar, Codec | CodecOf>>>> = {
  sqlite: { ...COMMON, Boolean: NUMERIC_BOOLEAN, Decimal: sqliteDecimal },
  postgresql: { ...COMMON, DateTime: ZONED_MOMENT, Bytes: HEX_BYTES },
  mysql: { ...COMMON, Boolean: NUMERIC_BOOLEAN, DateTime: TEXT_MOMENT },
};

/** How the values of a column travel. */
export function codecOf(provider: Provider, { kind, existing }: ColumnDefinition): Codec {
  if (existing === true && provider === "sqlite" && kind.column.scalar === "Decimal") return plainDecimal(kind);
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

/** The codec of a kind whose columns hold other values than code has. */
function storedCodec(kind: FieldKind, by: Codec | CodecOf): Codec {
  const { toStored = same, fromStored = same, convert: _, ...stored } = kind;
  const { encode, decode = same, ...types } = plainCodec(stored, by);
  return {
    ...types,
    encode: (value) => encode(toStored(converted(kind, value))),
    decode: (value) => fromStored(decode(value)),
  };
}

/** How a list is written in a statement: as one parameter, or as this many. */
export type ListForm = "array" | "json" | number;

/** Longer lists travel as JSON where that can be exact enough: no database takes any number of parameters. */
const MAX_PARAMETERS = 8_192;

/**
 * One parameter where the database can take a list from it, because then one statement serves lists of any length.
 * Elsewhere the number of parameters is a power of two, the last value repeated, so that there are few statements.
 */
export function listForm(provider: Provider, { kind }: ColumnDefinition, length: number): ListForm {
  if (provider === "postgresql") return "array";
  const { scalar } = kind.column;
  // Text and whole numbers are the same in JSON; datetimes are written as the adapter is configured, and decimals are
  // rounded.
  if (provider === "sqlite" && (scalar === "String" || scalar === "Enum" || scalar === "Int")) return "json";
  const isLong = length > MAX_PARAMETERS && (provider === "sqlite" || scalar === "String");
  return isLong ? "json" : 2 ** Math.ceil(Math.log2(length));
}

/** The values of a list as they travel in a form, one per parameter. */
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

/** As Prisma's adapters store datetimes in SQLite. */
function jsonMember(value: unknown): unknown {
  return value instanceof Date ? value.toISOString().replace("Z", "+00:00") : value;
}

/** How datetimes are read. */
export interface Moments {
  /** A datetime from the text or number of a database or its adapter. */
  readonly read: (value: unknown) => Date;
  /** Its JSON text. Absent where datetimes are never texts. */
  readonly toText: ((value: unknown) => string) | undefined;
}

const ZONE = /(?:Z|[+-]\d\d(?::?\d\d)?)$/;

/** PostgreSQL has a space in the middle, and no zone: its columns keep UTC. */
export function plainMoment(value: unknown): Date {
  if (typeof value !== "string") return new Date(value as number);
  return new Date(value.charAt(10) === " " && !ZONE.test(value) ? `${value.replace(" ", "T")}Z` : value);
}

/**
 * Makes a record of the values of a row, which come in the order of the columns.
 * @param first Index of the first of them
 */
export type RowDecoder = (values: readonly unknown[], first: number) => Row;

/** What turns rows with these columns into records. @param asText whether datetimes may be texts */
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
