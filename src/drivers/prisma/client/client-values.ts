import type { ColumnDefinition, Provider } from "../../../entity/index.ts";
import { codecOf, isScaled } from "../../sql/index.ts";
import { prismaNames } from "../schema/enums.ts";

/** How a column's values are given to a Prisma client, and what comes back. */
interface ClientForm {
  readonly to: (value: unknown) => unknown;
  /** @default as they are */
  readonly from?: ((value: unknown) => unknown) | undefined;
}

const PLAIN: ClientForm = Object.freeze({ to: exactNumber });

/** The day or the time of a moment in UTC, which stands for it in Prisma. */
const dayOf = (value: unknown): string => (value as Date).toISOString().slice(0, 10);
const timeOf = (value: unknown): string =>
  (value as Date)
    .toISOString()
    .slice(11, 23)
    .replace(/\.000$/, "");

/** All digits of a decimal of Prisma's, whose `toString` uses exponents. */
const digitsOf = (value: unknown): string => (value as { toFixed(): string }).toFixed();

/** Prisma calls words by names of its own where they are no identifiers. */
function enumForm(words: readonly string[]): ClientForm {
  const names = prismaNames(words);
  const back = new Map([...names].map(([word, name]) => [name, word]));
  return {
    to: (word) => names.get(word as string) ?? word,
    from: (name) => (names.has(name as string) ? name : (back.get(name as string) ?? name)),
  };
}

/** The form of a column; only kinds whose values Prisma writes otherwise have one of their own. */
export function clientForm(provider: Provider, column: ColumnDefinition): ClientForm {
  const { scalar } = column.kind.column;
  const codec = codecOf(provider, column);
  const encode = (value: unknown): unknown => codec.encode(value);
  const { toStored, fromStored } = column.kind;
  if (toStored !== undefined) {
    // Prisma calls keys of SQLite Int; see `prismaTypeOf`.
    return { to: provider === "sqlite" ? Number : (value) => toStored(value as never), from: fromStored };
  }
  switch (scalar) {
    case "Enum":
      return provider === "sqlite" ? PLAIN : enumForm(column.kind.column.words ?? []);
    case "BigInt":
      return { to: (value) => BigInt(encode(value) as string), from: codec.decode };
    case "Bytes":
      return {
        to: (value) => new Uint8Array(value as Uint8Array),
        from: (value) => new Uint8Array(value as Uint8Array),
      };
    case "Uuid":
      return { to: encode };
    case "Decimal":
      if (provider !== "sqlite") return { to: encode, from: (value) => codec.decode?.(digitsOf(value)) };
      return {
        to: isScaled(column.kind.column) ? (value) => BigInt(encode(value) as string) : encode,
        from: codec.decode,
      };
    case "Date":
      return provider === "sqlite"
        ? { to: encode }
        : { to: (value) => new Date(`${encode(value)}T00:00:00Z`), from: dayOf };
    case "Time":
      return provider === "sqlite"
        ? { to: encode }
        : { to: (value) => new Date(`1970-01-01T${encode(value)}Z`), from: timeOf };
    default:
      return PLAIN;
  }
}

/**
 * Prisma keeps 16 digits of a whole number that is beyond the safe ones, and so rounds it (or makes the greatest double
 * infinite). It takes decimals digit by digit, in whatever object looks like one of decimal.js.
 */
export function exactNumber(value: unknown): unknown {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  const digits = BigInt(value as number).toString();
  return { d: [], e: 0, s: Math.sign(value as number), toFixed: () => digits, toJSON: () => digits };
}
