import type * as z from "zod";
import { type ExactBound, type FieldDefinition, type FieldKind, type Parsed, parsed, unreadable } from "./kind.ts";
import { ORDER_OPERATORS } from "./operators.ts";
import { readSchema } from "./read-schema.ts";

/** Reads a value of a kind from any input; returns a message for an invalid input. */
type Read<T> = (value: unknown) => Parsed<T>;

/** A schema that reads values and refuses those outside a field's bounds. */
function boundedSchema<T>(
  read: Read<T>,
  compare: (a: T, b: T) => number,
  { least: min, most: max, positive }: FieldDefinition,
): z.ZodType<T> {
  const boundOf = (bound: ExactBound | undefined): T | undefined => {
    const found = bound && read(bound.value);
    return found?.ok === true ? found.value : undefined;
  };
  const [least, most, zero] = [boundOf(min), boundOf(max), boundOf({ value: 0 })];
  const problemOf = (value: T): string | undefined => {
    if (least !== undefined && compare(value, least) < 0) return min?.message ?? `must be at least ${least}`;
    if (most !== undefined && compare(value, most) > 0) return max?.message ?? `must be at most ${most}`;
    if (positive && compare(value, zero as T) <= 0) return "must be greater than 0";
    return undefined;
  };
  return readSchema((input) => {
    const found = read(input);
    const problem = found.ok ? problemOf(found.value) : undefined;
    return problem === undefined ? found : unreadable(problem);
  });
}

const INTEGER = /^-?(?:0|[1-9]\d{0,18})$/;
const INT64 = 2n ** 63n;
const BIGINT_MESSAGE = `must be a whole number between ${-INT64} and ${INT64 - 1n}, as text`;

function isInt64(value: unknown): value is bigint {
  return typeof value === "bigint" && value >= -INT64 && value < INT64;
}

/** Accepts numbers only if they are exact. */
const readBigint: Read<bigint> = (value) => {
  const isExact = Number.isSafeInteger(value) || (typeof value === "string" && INTEGER.test(value));
  const read = isExact ? BigInt(value as string | number) : value;
  return isInt64(read) ? parsed(read) : unreadable(BIGINT_MESSAGE);
};

const compareBigints = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** A 64-bit integer; BIGINT. Text in JSON, because JSON parsers round numbers beyond 2^53. */
export const bigintKind: FieldKind<bigint> = Object.freeze<FieldKind<bigint>>({
  name: "bigint",
  column: { scalar: "BigInt" },
  operators: ORDER_OPERATORS,
  sortable: true,
  searchable: false,
  parse: readBigint,
  accepts: isInt64,
  convert: readBigint,
  schema: (field) =>
    boundedSchema(readBigint, compareBigints, field).meta({
      type: "string",
      format: "int64",
      pattern: "^-?[0-9]{1,19}$",
    }),
  compare: compareBigints,
  toWire: String,
  unescaped: true,
  toCell: String,
});

/** The values of PostgreSQL's NUMERIC that are not numbers, in order. */
const NO_NUMBERS: readonly string[] = Object.freeze(["-Infinity", "Infinity", "NaN"]);

/** Maximum precision of a decimal, which is MySQL's. */
export const MOST_DIGITS = 65;

const DECIMAL = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?$/;
const NOT_ZERO = /[1-9]/;
/** Number of significant digits that a double always preserves. */
const EXACT_DIGITS = 15;

/**
 * An exact decimal number with a precision and a scale; DECIMAL. Text in code and in JSON, always with all decimal
 * places: "19.90". Values that do not fit are refused, never rounded.
 */
export function decimalKind(precision: number, scale: number): FieldKind<string> {
  const whole = precision - scale;
  const shape = `a decimal number with at most ${whole} digits before the point and ${scale} behind it, as text`;
  const read: Read<string> = (value) => {
    const text = typeof value === "number" ? exactText(value) : value;
    const found = typeof text === "string" ? DECIMAL.exec(text) : null;
    if (found === null) return unreadable(`must be ${shape}`);
    const [, sign, digits, fraction = ""] = found as unknown as [string, string, string, string?];
    const kept = fraction.slice(0, scale);
    const isLong = NOT_ZERO.test(fraction.slice(scale)) || (digits === "0" ? 0 : digits.length) > whole;
    if (isLong) return unreadable(`must be ${shape}`);
    const isZero = digits === "0" && !NOT_ZERO.test(kept);
    return parsed(`${isZero ? "" : sign}${digits}${scale === 0 ? "" : `.${kept.padEnd(scale, "0")}`}`);
  };
  const pattern = scale === 0 ? "^-?[0-9]+$" : `^-?[0-9]+(\\.[0-9]{1,${scale}})?$`;
  return textualDecimal({ scalar: "Decimal", precision, scale }, read, pattern);
}

/** Maximum number of digits of a decimal without a precision. */
export const MOST_OPEN_DIGITS = 500;

/**
 * An exact decimal number without a precision; NUMERIC. Text without trailing zeros: "19.9". Only PostgreSQL has such
 * columns; other databases store texts that sort like the values.
 */
export const openDecimalKind: FieldKind<string> = textualDecimal(
  { scalar: "Decimal" },
  (value) => {
    const text = typeof value === "number" ? exactText(value) : value;
    const found = typeof text === "string" ? DECIMAL.exec(text) : null;
    if (found === null || (text as string).length > MOST_OPEN_DIGITS)
      return unreadable(`must be a decimal number with at most ${MOST_OPEN_DIGITS} digits, as text`);
    const [, sign, digits, fraction = ""] = found as unknown as [string, string, string, string?];
    const kept = fraction.replace(/0+$/, "");
    const isZero = digits === "0" && kept === "";
    return parsed(`${isZero ? "" : sign}${digits}${kept === "" ? "" : `.${kept}`}`);
  },
  "^-?[0-9]+(\\.[0-9]+)?$",
);

function textualDecimal(column: FieldKind["column"], read: Read<string>, pattern: string): FieldKind<string> {
  return Object.freeze<FieldKind<string>>({
    name: "decimal",
    column,
    operators: ORDER_OPERATORS,
    sortable: true,
    searchable: false,
    parse: read,
    accepts: (value): value is string => {
      const found = read(value);
      return found.ok && found.value === value;
    },
    convert: read,
    schema: (field) => boundedSchema(read, compareDecimals, field).meta({ type: "string", format: "decimal", pattern }),
    compare: compareDecimals,
    unescaped: true,
    toCell: (value) => value,
  });
}

/** The position of a text relative to numbers: 0 for all numbers, which have their own order. */
function placeOf(text: string): number {
  const place = NO_NUMBERS.indexOf(text);
  return place === 0 ? -1 : place === -1 ? 0 : place;
}

/** The text of a number, unless digits may have been lost. */
function exactText(value: number): string | undefined {
  const text = String(value);
  return DECIMAL.test(text) && text.replace(/^-?0?\.?0*|\./g, "").length <= EXACT_DIGITS ? text : undefined;
}

function compareDecimals(a: string, b: string): number {
  const [one, other] = [placeOf(a), placeOf(b)];
  if (one !== 0 || other !== 0) return one - other;
  const [[whole = "", part = ""], [otherWhole = "", otherPart = ""]] = [a.split("."), b.split(".")];
  const scale = Math.max(part.length, otherPart.length);
  return compareBigints(
    BigInt(`${whole}${part.padEnd(scale, "0")}`),
    BigInt(`${otherWhole}${otherPart.padEnd(scale, "0")}`),
  );
}
