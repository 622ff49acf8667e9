import {
  type ColumnDefinition,
  isStorableText,
  type JsonPath,
  jsonMemberKind,
  type Operator,
  type Parsed,
} from "../../entity/index.ts";
import type { Row } from "./condition.ts";

/** Maximum number of steps of a path; JSON is not nested deeper. */
const MOST_STEPS = 20;

/** The greatest position in an array. */
const MOST_ITEMS = 2 ** 31 - 1;

/** Whether a value is a path into JSON: names of members, and positions in arrays. */
export function isJsonPath(value: unknown): value is JsonPath {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MOST_STEPS &&
    value.every((step) =>
      typeof step === "string"
        ? isStorableText(step)
        : Number.isInteger(step) && (step as number) >= 0 && (step as number) <= MOST_ITEMS,
    )
  );
}

/** Parses the path in a parameter name, after the name of the field; whole numbers are array positions. */
export function readJsonPath(text: string): JsonPath | undefined {
  const steps = text.split(".").map((step) => (/^(?:0|[1-9]\d{0,9})$/.test(step) ? Number(step) : step));
  return steps.includes("") || !isJsonPath(steps) ? undefined : steps;
}

/** Returns a column for the value at a path of a JSON column. */
export function columnAt(column: ColumnDefinition, path: JsonPath): ColumnDefinition {
  return { ...column, path, kind: jsonMemberKind, optional: true, existing: false };
}

/** The value of a column in a row; null when it is missing or JSON null. */
export function storedValue(row: Row, { name, path }: ColumnDefinition): unknown {
  let value = row[name];
  for (const step of path ?? []) {
    if (typeof value !== "object" || value === null || Array.isArray(value) !== (typeof step === "number")) return null;
    value = Object.hasOwn(value, step) ? (value as Record<string | number, unknown>)[step] : null;
  }
  return value;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The values that a text of a query string can mean: the text itself, and the number or boolean with that spelling. */
export function meantBy(text: string): readonly (string | number | boolean)[] {
  if (text === "true" || text === "false") return [text, text === "true"];
  return NUMBER.test(text) && Number.isFinite(Number(text)) ? [text, Number(text)] : [text];
}

/** Converts a parameter on a JSON path into the form that `where` takes. */
export function testAtPath(path: JsonPath, operator: Operator, texts: readonly string[]): Parsed<object> {
  const meant = texts.flatMap(meantBy);
  const [first = ""] = texts;
  switch (operator) {
    case "eq":
    case "in":
      return { ok: true, value: { path, in: meant } };
    case "ne":
    case "nin":
      return { ok: true, value: { path, nin: meant } };
    case "null":
      return first === "true" || first === "false"
        ? { ok: true, value: { path, null: first === "true" } }
        : { ok: false, message: "must be true or false" };
    case "like":
    case "starts":
    case "ends":
      return { ok: true, value: { path, [operator]: first } };
    default: {
      const number = meantBy(first).find((value) => typeof value === "number");
      return { ok: true, value: { path, [operator]: number ?? first } };
    }
  }
}
