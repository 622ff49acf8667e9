import { type ColumnDefinition, type FieldKind, isPlainObject, plainField } from "../../../entity/index.ts";

/** The bytes that a record may still use. */
export interface Budget {
  left: number;
}

/** Marks a value that does not match its column or exceeds the budget. */
export const REFUSED: unique symbol = Symbol("refused");

/** Reads a remote value: returns a copy with the column's type, or `REFUSED`. */
export type ReadValue = (value: unknown, budget: Budget) => unknown;

/** Bytes that a number, a date, a boolean or null counts for. */
const PLAIN_BYTES = 8;
/** The most levels of JSON in a column, as in requests. */
const MAX_DEPTH = 20;

/** Creates the reader for values of a column. */
export function valueReader({ role, kind, field }: ColumnDefinition): ReadValue {
  if (role === "id" || role === "foreignKey") return readId;
  // Another service sends its encrypted fields in plain text.
  const { column, schema, accepts, convert } = field?.kind ?? kind;
  if (convert !== undefined) return converting(convert);
  return READERS[column.scalar as Unconverted](accepts, () => schema(plainField(field?.kind ?? kind)));
}

type Accepts = (value: unknown) => boolean;
type Schema = () => { safeParse(value: unknown): { readonly success: boolean; readonly data?: unknown } };

const plain = (accepts: Accepts): ReadValue => {
  return (value, budget) => (accepts(value) && spend(budget, PLAIN_BYTES) ? value : REFUSED);
};

/** Reads kinds whose values have several forms. */
const converting = (convert: NonNullable<FieldKind["convert"]>): ReadValue => {
  return (value, budget) => {
    if (!(typeof value === "string" ? spendText(budget, value) : spend(budget, PLAIN_BYTES))) return REFUSED;
    const found = convert(value);
    return found.ok ? found.value : REFUSED;
  };
};

type Unconverted = "String" | "Int" | "Float" | "Boolean" | "DateTime" | "Json";

const READERS: Readonly<Record<Unconverted, (accepts: Accepts, schema: Schema) => ReadValue>> = {
  String: (accepts) => (value, budget) =>
    typeof value === "string" && spendText(budget, value) && accepts(value) ? value : REFUSED,
  Int: plain,
  Float: plain,
  Boolean: plain,
  DateTime: (accepts, schema) => {
    const parser = schema();
    return (value, budget) => {
      if (!spend(budget, PLAIN_BYTES)) return REFUSED;
      const date = typeof value === "string" ? momentOf(value) : undefined;
      if (date !== undefined && accepts(date)) return date;
      const read = parser.safeParse(value);
      return read.success ? new Date(read.data as Date) : REFUSED;
    };
  },
  Json: () => (value, budget) => copyJson(value, budget, 0),
};

/** A record id. Databases with serial ids return numbers. */
function readId(value: unknown, budget: Budget): unknown {
  const id = typeof value === "number" && Number.isFinite(value) ? String(value) : value;
  return typeof id === "string" && spendText(budget, id) && isText(id) ? id : REFUSED;
}

/** The format of `toISOString`, for years with four digits. */
const ISO_MOMENT = /^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/**
 * Parses the usual format of dates; other formats are left to the schema. Rejects dates that `Date` would shift, such
 * as the 30th of February.
 */
function momentOf(text: string): Date | undefined {
  if (!ISO_MOMENT.test(text)) return undefined;
  const date = new Date(text);
  return date.getUTCDate() === Number(text.slice(8, 10)) ? date : undefined;
}

/** Copies a JSON value. Circular values fail at the depth limit. */
function copyJson(value: unknown, budget: Budget, depth: number): unknown {
  if (value === null || typeof value === "boolean" || Number.isFinite(value))
    return spend(budget, PLAIN_BYTES) ? value : REFUSED;
  if (typeof value === "string") return spendText(budget, value) && isText(value) ? value : REFUSED;
  if (typeof value !== "object" || depth >= MAX_DEPTH || !spend(budget, PLAIN_BYTES)) return REFUSED;
  return Array.isArray(value) ? copyArray(value, budget, depth) : copyObject(value as object, budget, depth);
}

function copyArray(items: readonly unknown[], budget: Budget, depth: number): unknown {
  const { length } = items;
  if (length > budget.left) return REFUSED; // before the array is allocated
  const copy = new Array<unknown>(length);
  for (let i = 0; i < length; i++) {
    const item = copyJson(items[i], budget, depth + 1);
    if (item === REFUSED) return REFUSED;
    copy[i] = item;
  }
  return copy;
}

function copyObject(object: object, budget: Budget, depth: number): unknown {
  if (!isPlainObject(object)) return REFUSED;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(object)) {
    if (name === "__proto__" || !spendText(budget, name) || !isText(name)) return REFUSED;
    const item = copyJson(object[name], budget, depth + 1);
    if (item === REFUSED) return REFUSED;
    copy[name] = item;
  }
  return copy;
}

function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

function spend(budget: Budget, bytes: number): boolean {
  budget.left -= bytes;
  return budget.left >= 0;
}

/** Counts the bytes of a text. Text that is far too long is not measured. */
function spendText(budget: Budget, text: string): boolean {
  return text.length <= budget.left && spend(budget, Buffer.byteLength(text));
}
