import type { ColumnDefinition, FieldKind, Provider } from "../../../entity/index.ts";
import { codecOf, isScaled } from "../../sql/index.ts";
import { prismaNames } from "../schema/enums.ts";
import { prismaTypeOf } from "../schema/prisma-types.ts";

/** Converts a column's values for a Prisma client, and back. */
interface ClientForm {
  readonly to: (value: unknown) => unknown;
  /** @default unchanged */
  readonly from?: ((value: unknown) => unknown) | undefined;
}

const PLAIN: ClientForm = Object.freeze({ to: exactNumber });

/** The date or time in UTC of a `Date`, which Prisma uses for both. */
const dayOf = (value: unknown): string => (value as Date).toISOString().slice(0, 10);
const timeOf = (value: unknown): string =>
  (value as Date)
    .toISOString()
    .slice(11, 23)
    .replace(/\.000$/, "");

/** All digits of a Prisma decimal, whose `toString` uses exponents. */
const digitsOf = (value: unknown): string => (value as { toFixed(): string }).toFixed();

/** Converts enum values whose names in Prisma differ, because they are not identifiers. */
function enumForm(words: readonly string[]): ClientForm {
  const names = prismaNames(words);
  const back = new Map([...names].map(([word, name]) => [name, word]));
  return {
    to: (word) => names.get(word as string) ?? word,
    from: (name) => (names.has(name as string) ? name : (back.get(name as string) ?? name)),
  };
}

/** A list of PostgreSQL, each item in its own form. */
function listForm(column: ColumnDefinition): ClientForm {
  const { item } = column.kind;
  const one = clientForm("postgresql", { ...column, kind: item as FieldKind });
  const items = (values: unknown): readonly unknown[] => values as readonly unknown[];
  return {
    to: (values) => items(converted(column.kind, values)).map((value) => one.to(value)),
    from: (values) => items(values).map((value) => (one.from === undefined ? value : one.from(value))),
  };
}

/** A list in other databases, as JSON. */
function jsonOf({ kind }: ColumnDefinition): ClientForm["to"] {
  return (values) => kind.toWire?.(converted(kind, values));
}

function converted({ convert }: FieldKind, value: unknown): unknown {
  const found = convert?.(value);
  return found?.ok === true ? found.value : value;
}

/** The form of a column's values in Prisma's client. */
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
    case "List":
      return provider === "postgresql" ? listForm(column) : { to: jsonOf(column), from: codec.decode };
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
      if (prismaTypeOf(column, provider).type === "Decimal")
        return { to: encode, from: (value) => codec.decode?.(digitsOf(value)) };
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
 * Converts a number so that Prisma does not round it. Prisma keeps 16 digits of an integer beyond the safe ones (and
 * turns the greatest double into infinity), but passes on all digits of any object that looks like a decimal of
 * decimal.js.
 */
export function exactNumber(value: unknown): unknown {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  const digits = BigInt(value as number).toString();
  return { d: [], e: 0, s: Math.sign(value as number), toFixed: () => digits, toJSON: () => digits };
}
