import type { ColumnDefinition } from "./entity-definition.ts";
import { isJsonValue } from "./kinds/index.ts";
import type { ColumnType } from "./kinds/kind.ts";

const INT32 = 2 ** 31;

function isText(value: unknown): boolean {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\u0000");
}

/** Half a surrogate pair, NaN or 1.5 in a whole number would be stored as something else; an object is not a number. */
const HOLDS: Readonly<Record<ColumnType["scalar"], (value: unknown) => boolean>> = {
  String: isText,
  Int: (value) => Number.isInteger(value) && (value as number) >= -INT32 && (value as number) < INT32,
  Float: (value) => Number.isFinite(value),
  Boolean: (value) => typeof value === "boolean",
  DateTime: (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  Json: isJsonValue,
};

/**
 * Whether every database can store a value in a column and give back the same; `null` where the column is optional.
 * Lengths and ranges of a field are checked long before. An encrypted field is stored as text.
 */
export function canHold({ kind, optional, field }: ColumnDefinition, value: unknown): boolean {
  if (value === null) return optional;
  return field?.encrypted ? isText(value) : HOLDS[kind.column.scalar](value);
}
