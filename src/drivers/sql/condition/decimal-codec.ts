import { isScaled } from "../tables/column-type.ts";
import { type CodecOf, converted, types } from "./codec.ts";

/** Databases return as many decimal places as the column has. */
export const decimal: CodecOf = (kind) => ({
  ...types("decimal"),
  encode: (value) => converted(kind, value),
  decode: (value) => converted(kind, String(value)),
});

/**
 * SQLite has no decimals: they are stored as integers in units of the last digit, or as texts that sort like their
 * values.
 */
export const sqliteDecimal: CodecOf = (kind) => {
  const { scale = 0, precision } = kind.column;
  if (precision === undefined) return openText(kind);
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

/** MySQL has no decimals without a declared precision. */
export const mysqlDecimal: CodecOf = (kind) => (kind.column.precision === undefined ? openText(kind) : decimal(kind));

/** A decimal of any length as text that sorts like the number. */
const openText: CodecOf = (kind) => ({
  ...types("string"),
  encode: (value) => toOpenText(converted(kind, value) as string),
  decode: (value) => fromOpenText(value as string),
});

/** Decimals of existing SQLite tables, which are doubles and have their precision. */
export const plainDecimal: CodecOf = (kind) => ({
  ...types("float"),
  encode: (value) => Number(converted(kind, value)),
  decode(value) {
    const { scale } = kind.column;
    return converted(kind, typeof value === "number" && scale !== undefined ? value.toFixed(scale) : String(value));
  },
});

const NINES: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from({ length: 10 }, (_, digit) => [String(digit), String(9 - digit)]),
);
const complement = (text: string): string => text.replace(/\d/g, (digit) => NINES[digit] as string);

/**
 * Encodes a decimal as text that sorts like the number: padded to one width, with each digit of negative numbers
 * subtracted from nine.
 */
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

/** The width of the number of integer digits. */
const LENGTH = 3;

/**
 * Encodes the number of integer digits, then the digits. For negative numbers, each digit is subtracted from nine, and
 * a character that sorts last is appended.
 */
function toOpenText(decimal: string): string {
  const isNegative = decimal.startsWith("-");
  const [whole = "", part] = (isNegative ? decimal.slice(1) : decimal).split(".");
  const digits = `${String(whole.length).padStart(LENGTH, "0")}${whole}${part === undefined ? "" : `.${part}`}`;
  return isNegative ? `0${complement(digits)}~` : `1${digits}`;
}

function fromOpenText(text: string): string {
  const isNegative = text.startsWith("0");
  const digits = isNegative ? complement(text.slice(1, -1)) : text.slice(1);
  return `${isNegative ? "-" : ""}${digits.slice(LENGTH)}`;
}
