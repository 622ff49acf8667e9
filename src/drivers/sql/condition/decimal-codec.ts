import { isScaled } from "../tables/column-type.ts";
import { type CodecOf, converted, types } from "./codec.ts";

/** Databases write as many digits behind the point as the column has. */
export const decimal: CodecOf = (kind) => ({
  ...types("decimal"),
  encode: (value) => converted(kind, value),
  decode: (value) => converted(kind, String(value)),
});

/** SQLite has no decimals: they are whole numbers of their last digits, or texts in the order of their values. */
export const sqliteDecimal: CodecOf = (kind) => {
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
export const plainDecimal: CodecOf = (kind) => ({
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
