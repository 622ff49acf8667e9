import * as z from "zod";
import { type FieldDefinition, type FieldKind, parsed, unreadable } from "./kind.ts";
import { EQUALITY_OPERATORS, ORDER_OPERATORS } from "./operators.ts";

const INT32_MIN = -2_147_483_648;
const INT32_MAX = 2_147_483_647;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;
const INT_MESSAGE = "must be a whole number between -2147483648 and 2147483647";
const FLOAT_MESSAGE = "must be a finite number";

function isInt32(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= INT32_MIN && (value as number) <= INT32_MAX;
}

function bounded(base: z.ZodNumber, field: FieldDefinition): z.ZodType {
  let schema = base;
  if (field.min) schema = schema.min(field.min.value, field.min.message ?? `must be at least ${field.min.value}`);
  if (field.max) schema = schema.max(field.max.value, field.max.message ?? `must be at most ${field.max.value}`);
  if (field.positive) schema = schema.positive("must be greater than 0");
  return schema;
}

/** A 32-bit integer; INTEGER. Spec 2.2. */
export const intKind: FieldKind<number> = Object.freeze<FieldKind<number>>({
  name: "int",
  column: { scalar: "Int" },
  operators: ORDER_OPERATORS,
  sortable: true,
  searchable: false,
  parse(text) {
    const value = INTEGER.test(text) ? Number(text) : Number.NaN;
    return isInt32(value) ? parsed(value) : unreadable(INT_MESSAGE);
  },
  accepts: isInt32,
  schema: (field) => bounded(z.int32(INT_MESSAGE), field),
  compare: (a, b) => a - b,
  toCell: (value) => value,
});

/** Compares like PostgreSQL: NaN is the greatest number, and equal to itself. */
function compareFloats(a: number, b: number): number {
  if (a === b) return 0;
  return a < b || Number.isNaN(b) ? (Number.isNaN(a) ? 0 : -1) : 1;
}

/** A double-precision number; DOUBLE. Spec 2.2. */
export const floatKind: FieldKind<number> = Object.freeze<FieldKind<number>>({
  name: "float",
  column: { scalar: "Float" },
  operators: ORDER_OPERATORS,
  sortable: true,
  searchable: false,
  parse(text) {
    const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
    return Number.isFinite(value) ? parsed(value) : unreadable(FLOAT_MESSAGE);
  },
  accepts: (value): value is number => Number.isFinite(value),
  schema: (field) => bounded(z.number(FLOAT_MESSAGE), field),
  compare: compareFloats,
  toCell: (value) => value,
});

const MESSAGE = "must be true or false";

/** true or false; BOOLEAN. Spec 2.2. Accepts only the two JSON literals, not `1`, `"yes"` or `"TRUE"`. */
export const boolKind: FieldKind<boolean> = Object.freeze<FieldKind<boolean>>({
  name: "bool",
  column: { scalar: "Boolean" },
  operators: EQUALITY_OPERATORS,
  sortable: true,
  values: Object.freeze([false, true]),
  searchable: false,
  parse: (text) => (text === "true" ? parsed(true) : text === "false" ? parsed(false) : unreadable(MESSAGE)),
  accepts: (value): value is boolean => typeof value === "boolean",
  schema: () => z.boolean(MESSAGE),
  compare: (a, b) => Number(a) - Number(b),
  toCell: (value) => value,
});
