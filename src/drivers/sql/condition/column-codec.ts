import type { ArgType } from "@prisma/driver-adapter-utils";
import type { AnyEntity, ColumnDefinition, ColumnType, Provider } from "../../../entity/index.ts";
import type { Row } from "../../../gate/index.ts";

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

const COMMON: Readonly<Record<Scalar, Codec>> = {
  String: { ...types("string"), encode: same },
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

const CODECS: Readonly<Record<Provider, Readonly<Record<Scalar, Codec>>>> = {
  sqlite: { ...COMMON, Boolean: NUMERIC_BOOLEAN },
  postgresql: { ...COMMON, DateTime: TEXT_MOMENT },
  mysql: { ...COMMON, Boolean: NUMERIC_BOOLEAN, DateTime: TEXT_MOMENT },
};

/** How the values of a column travel. */
export function codecOf(provider: Provider, { kind }: ColumnDefinition): Codec {
  return CODECS[provider][kind.column.scalar];
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
  if (provider === "sqlite" && (scalar === "String" || scalar === "Int")) return "json";
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
