import type { ArgType } from "@prisma/driver-adapter-utils";
import type { ColumnDefinition, ColumnType, Provider } from "../../../entity/index.ts";

/** How values of a column travel to the database and back. */
export interface Codec {
  /** What the adapter is told of the type. */
  readonly type: ArgType;
  /** What the adapter is told of a list of them, where one parameter holds a list. */
  readonly listType: ArgType;
  /** A value for the adapter; a copy, so that the caller may change the original later. @param value is not null */
  encode(value: unknown): unknown;
  /** Absent when values come as they are, and for moments. @param value is not null */
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
  // -0 becomes 0: SQLite has no other one, and Prisma's client sends no other.
  Float: { ...types("float"), encode: (value) => (value as number) + 0, decode: Number },
  Boolean: { ...types("boolean"), encode: same },
  DateTime: { ...types("datetime"), encode: (value) => new Date(value as Date) },
  Json: { ...types("json"), encode: (value) => JSON.stringify(value), decode: fromJson },
};

/** A moment as these databases write it, without a zone: the columns keep UTC. */
function plainMoment(value: unknown): string {
  return (value as Date).toISOString().slice(0, 23).replace("T", " ");
}

/** They have no Booleans; 0 and 1 stand for them. */
const NUMERIC_BOOLEAN: Codec = {
  ...types("int"),
  encode: Number,
  decode: (value) => value === true || Number(value) === 1,
};

const TEXT_MOMENT: Codec = { ...types("string"), encode: plainMoment };

const CODECS: Readonly<Record<Provider, Readonly<Record<Scalar, Codec>>>> = {
  sqlite: { ...COMMON, Boolean: NUMERIC_BOOLEAN },
  postgresql: {
    ...COMMON,
    DateTime: TEXT_MOMENT,
  },
  mysql: { ...COMMON, Boolean: NUMERIC_BOOLEAN, DateTime: TEXT_MOMENT },
};

/** How the values of a column travel. */
export function codecOf(provider: Provider, { kind }: ColumnDefinition): Codec {
  return CODECS[provider][kind.column.scalar];
}
