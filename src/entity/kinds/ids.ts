import { bigintKind } from "./exact-numbers.ts";
import { type FieldKind, type Parsed, parsed, unreadable } from "./kind.ts";
import { intKind } from "./number-and-bool.ts";
import { ORDER_OPERATORS } from "./operators.ts";
import { readSchema } from "./read-schema.ts";
import { idKind } from "./string.ts";
import { uuidKind } from "./written-forms.ts";

// Ids are texts in code, independent of their column: ids of routes, callers and other services are texts, and a rule
// that compares them must not depend on the type of a column.

/** Integers as ids: "17" in code. */
function numericId(kind: FieldKind<number> | FieldKind<bigint>): FieldKind<string> {
  const { scalar } = kind.column;
  const convert = (value: unknown): Parsed<string> => {
    const text = typeof value === "number" || typeof value === "bigint" ? String(value) : value;
    const found = typeof text === "string" ? kind.parse(text) : unreadable("must be a whole number");
    return found.ok ? parsed(String(found.value)) : found;
  };
  const isInt = scalar === "Int";
  return Object.freeze<FieldKind<string>>({
    name: "id",
    column: kind.column,
    operators: ORDER_OPERATORS,
    sortable: true,
    searchable: false,
    parse: convert,
    accepts: (value): value is string => typeof value === "string" && convert(value).ok,
    convert,
    toStored: isInt ? Number : (text) => BigInt(text as string),
    fromStored: String,
    schema: () =>
      readSchema(convert).meta(isInt ? { type: "integer", format: "int32" } : { type: "string", format: "int64" }),
    compare: (a, b) => {
      const difference = BigInt(a) - BigInt(b);
      return difference < 0n ? -1 : difference > 0n ? 1 : 0;
    },
    ...(isInt && { toWire: Number }),
    unescaped: true,
    toCell: isInt ? Number : (text) => text,
  });
}

const NUMERIC: ReadonlyMap<string, FieldKind<string>> = new Map([
  ["Int", numericId(intKind)],
  ["BigInt", numericId(bigintKind)],
]);
const uuidId: FieldKind<string> = Object.freeze({ ...uuidKind, name: "id" });

/** The kind of ids for a kind of field; undefined for a kind that ids cannot have. */
export function idKindOf({ name, column }: FieldKind): FieldKind<string> | undefined {
  if (name === "string" || name === "id") return idKind;
  return name === "uuid" ? uuidId : name === "int" || name === "bigint" ? NUMERIC.get(column.scalar) : undefined;
}
