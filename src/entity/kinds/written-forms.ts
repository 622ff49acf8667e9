import * as z from "zod";
import { type FieldKind, type Parsed, parsed, unreadable } from "./kind.ts";
import { NULL_ONLY, ORDER_OPERATORS } from "./operators.ts";
import { readSchema } from "./read-schema.ts";
import { compareText } from "./string.ts";

/** A kind whose values are texts with a canonical form, the same in code and in JSON. */
function written(
  name: string,
  column: FieldKind["column"],
  read: (text: string) => string | undefined,
  message: string,
  format: string,
): FieldKind<string> {
  const convert = (value: unknown): Parsed<string> => {
    const found = typeof value === "string" ? read(value) : undefined;
    return found === undefined ? unreadable(message) : parsed(found);
  };
  return Object.freeze<FieldKind<string>>({
    name,
    column,
    operators: ORDER_OPERATORS,
    sortable: true,
    searchable: false,
    parse: convert,
    accepts: (value): value is string => typeof value === "string" && read(value) === value,
    convert,
    schema: () => readSchema(convert).meta({ type: "string", format }),
    compare: compareText,
    unescaped: true,
    toCell: (value) => value,
  });
}

const isoDate = z.iso.date();

/** A calendar date without time and zone: "2024-05-31"; DATE. The same text everywhere, independent of time zones. */
export const dateKind: FieldKind<string> = Object.freeze({
  ...written(
    "date",
    { scalar: "Date" },
    (text) => (isoDate.safeParse(text).success && text >= "0001" ? text : undefined),
    "must be a date that exists (2024-05-31)",
    "date",
  ),
  bounds: Object.freeze(["0001-01-01", "9999-12-31"] as const),
});

const TIME = /^((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(?:\.(\d{1,3})0*)?)?$/;

function readTime(text: string): string | undefined {
  const [, minute, second = "00", fraction = ""] = TIME.exec(text) ?? [];
  if (minute === undefined) return undefined;
  return `${minute}:${second}${Number(fraction) === 0 ? "" : `.${fraction.padEnd(3, "0")}`}`;
}

/** PostgreSQL's text for the end of a day. */
const END_OF_DAY = "24:00:00";

/** Adds a millisecond to a time. */
function nextTime(time: string): string | undefined {
  if (time === END_OF_DAY) return undefined;
  const moment = new Date(`1970-01-01T${time}Z`).getTime() + 1;
  return moment === 86_400_000 ? END_OF_DAY : new Date(moment).toISOString().slice(11, 23);
}

/** A time of day without a zone, with milliseconds: "09:30:00", "09:30:00.250"; TIME(3). */
export const timeKind: FieldKind<string> = Object.freeze({
  ...written("time", { scalar: "Time" }, readTime, "must be a time of day (09:30, 09:30:00 or 09:30:00.250)", "time"),
  next: nextTime,
});

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** A UUID of any version (RFC 9562), in lower case; UUID. */
export const uuidKind: FieldKind<string> = written(
  "uuid",
  { scalar: "Uuid" },
  (text) => {
    const small = text.toLowerCase();
    return UUID.test(small) ? small : undefined;
  },
  "must be a UUID (0192f0c1-2345-7abc-8def-0123456789ab)",
  "uuid",
);

const BASE64 = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/;

function readBytes(value: unknown): Parsed<Uint8Array> {
  if (value instanceof Uint8Array) return parsed(value);
  const bytes = typeof value === "string" && BASE64.test(value) ? Buffer.from(value, "base64") : undefined;
  return bytes === undefined ? unreadable("must be bytes in base64") : parsed(new Uint8Array(bytes));
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** Bytes: a `Uint8Array` in code, base64 with padding in JSON; BYTEA. Conditions can only compare them with null. */
export const bytesKind: FieldKind<Uint8Array> = Object.freeze<FieldKind<Uint8Array>>({
  name: "bytes",
  column: { scalar: "Bytes" },
  operators: NULL_ONLY,
  sortable: false,
  searchable: false,
  parse: readBytes,
  accepts: (_value): _value is Uint8Array => false,
  convert: readBytes,
  schema: () => readSchema(readBytes).meta({ type: "string", contentEncoding: "base64" }),
  compare: (a, b) => compareText(toBase64(a), toBase64(b)),
  toWire: toBase64,
  unescaped: true,
  toCell: toBase64,
  fromCell: readBytes,
});
