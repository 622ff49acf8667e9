import type { ArgType } from "@prisma/driver-adapter-utils";
import type { ColumnDefinition, ColumnType, Provider } from "../../../entity/index.ts";

/** Codes of "0", " ", "T" and ".". */
const ZERO = 48;
const SPACE = 32;
const T = 84;
const POINT = 46;
/** Before this year `Date.UTC` takes years for those of the last century. */
const FIRST_PLAIN_YEAR = 100;
const UTC = "+00:00";
const ZONE = /(?:Z|[+-]\d\d(?::?\d\d)?)$/;
/** Where the fraction of a second begins, behind its point. */
const FRACTION = 20;

/** Two digits of a text as a number; something else is no number from 0 to 99. */
function pair(text: string, index: number): number {
  return (text.charCodeAt(index) - ZERO) * 10 + text.charCodeAt(index + 1) - ZERO;
}

/** The milliseconds of a text whose seconds end at 19; databases leave out zeros at the end. @param end Where they end */
function fraction(text: string, end: number): number {
  switch (end) {
    case FRACTION - 1:
      return 0;
    case FRACTION + 1:
      return (text.charCodeAt(FRACTION) - ZERO) * 100;
    case FRACTION + 2:
      return pair(text, FRACTION) * 10;
    case FRACTION + 3:
      return pair(text, FRACTION) * 10 + text.charCodeAt(FRACTION + 2) - ZERO;
    default:
      return Number.NaN;
  }
}

/**
 * Where a moment in UTC ends, in front of its zone: `2024-05-31T12:00:00.5+00:00`, as adapters write it, or, as
 * PostgreSQL does, `2024-05-31 12:00:00.5`. -1 for all other texts.
 */
function endOf(text: string): number {
  const separator = text.charCodeAt(10);
  const end = separator === SPACE ? text.length : separator === T && text.endsWith(UTC) ? text.length - UTC.length : -1;
  return end === FRACTION - 1 || (end <= FRACTION + 3 && text.charCodeAt(FRACTION - 1) === POINT) ? end : -1;
}

/** A text of the form that `endOf` does not know: without a zone it is in UTC too. */
function otherMoment(text: string): Date {
  return new Date(text.charCodeAt(10) === SPACE && !ZONE.test(text) ? `${text.replace(" ", "T")}Z` : text);
}

/** A moment from the text that a database or its adapter makes of it. In those forms it takes half the time of `new Date`. */
function parseMoment(value: unknown): Date {
  if (typeof value !== "string") return new Date(value as number);
  const end = endOf(value);
  const year = pair(value, 0) * 100 + pair(value, 2);
  if (end === -1 || !(year >= FIRST_PLAIN_YEAR)) return otherMoment(value);
  const seconds = (pair(value, 11) * 60 + pair(value, 14)) * 60 + pair(value, 17);
  const time = Date.UTC(year, pair(value, 5) - 1, pair(value, 8)) + seconds * 1_000 + fraction(value, end);
  return Number.isNaN(time) ? otherMoment(value) : new Date(time);
}

const ZEROS = ["", "00Z", "0Z", "Z"];

/** The ISO 8601 text in UTC, with milliseconds, of such a text. */
function momentText(value: unknown): string {
  if (typeof value !== "string") return parseMoment(value).toISOString();
  const end = endOf(value);
  if (end === FRACTION - 1) return `${value.slice(0, 10)}T${value.slice(11, end)}.000Z`;
  if (end > FRACTION && end <= FRACTION + 3)
    return `${value.slice(0, 10)}T${value.slice(11, end)}${ZEROS[end - FRACTION]}`;
  return parseMoment(value).toISOString();
}

/** How values of a column travel to the database and back. */
export interface Codec {
  /** What the adapter is told of the type. */
  readonly type: ArgType;
  /** What the adapter is told of a list of them, where one parameter holds a list. */
  readonly listType: ArgType;
  /** A copy that nobody else holds. @param value is not null */
  encode(value: unknown): unknown;
  /** Absent when values come as they are. @param value is not null */
  readonly decode?: (value: unknown) => unknown;
  /** What JSON has of it, for who asks for moments as texts. Absent when it is what `decode` gives. */
  readonly toText?: (value: unknown) => string;
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
  DateTime: {
    ...types("datetime"),
    encode: (value) => new Date(value as Date),
    decode: parseMoment,
    toText: momentText,
  },
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

const TEXT_MOMENT: Codec = { ...types("string"), encode: plainMoment, decode: parseMoment, toText: momentText };

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
