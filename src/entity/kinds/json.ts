import * as z from "zod";
import { isPlainObject } from "./is-object.ts";
import { type FieldKind, type Parsed, parsed, unreadable } from "./kind.ts";
import { NULL_ONLY, TEXT_OPERATORS } from "./operators.ts";
import { compareText, isStorableText } from "./string.ts";

/** Maximum nesting depth; deeper values could overflow the stack of recursive consumers (JSON.stringify, databases). */
const MAX_DEPTH = 20;

/**
 * Whether a value is unchanged after serialization to JSON and back. Iterative, so that deep input cannot overflow the
 * stack.
 */
export function isJsonValue(root: unknown): boolean {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const value of level) {
      if (value === null || typeof value === "boolean") continue;
      if (typeof value === "string") {
        if (!isStorableText(value)) return false;
      } else if (typeof value === "number") {
        if (!Number.isFinite(value)) return false;
      } else if (typeof value !== "object" || depth >= MAX_DEPTH || !addMembers(value, next)) return false;
    }
    level = next;
  }
  return true;
}

/** Collects the members of an object or a list; false for other objects, and for invalid names. */
function addMembers(value: object, members: unknown[]): boolean {
  if (Array.isArray(value)) {
    for (const child of value) members.push(child);
    return true;
  }
  if (!isPlainObject(value)) return false;
  for (const key of Object.keys(value)) {
    if (key === "__proto__" || !isStorableText(key)) return false;
    members.push(value[key]);
  }
  return true;
}

function readJson(text: string): Parsed<unknown> {
  try {
    return parsed(JSON.parse(text));
  } catch {
    return unreadable("must be JSON");
  }
}

/** Members of objects by name, and items of arrays by position. */
export type JsonPath = readonly (string | number)[];

type JsonMember = string | number | boolean;

/** Compares members; values of different types have no order and are not equal. */
function compareMembers(a: JsonMember, b: JsonMember): number {
  if (typeof a !== typeof b) return Number.NaN;
  return typeof a === "string" ? compareText(a, b as string) : Number(a) - Number(b);
}

/** The value at a JSON path: a text, number or boolean. Lists and objects are equal to no value. */
export const jsonMemberKind: FieldKind = Object.freeze({
  name: "json value",
  column: { scalar: "Json" },
  operators: TEXT_OPERATORS,
  sortable: false,
  searchable: false,
  parse: (text) => parsed(text),
  accepts: (value): value is JsonMember =>
    typeof value === "string" ? isStorableText(value) : typeof value === "boolean" || Number.isFinite(value),
  schema: () => z.union([z.string(), z.number(), z.boolean()]),
  compare: compareMembers,
  toCell: (value) => value,
} satisfies FieldKind<JsonMember>) as FieldKind;

/** Any JSON value; JSON or JSONB. Conditions can compare it with null, and the values at its paths. Spec 2.2. */
export const jsonKind: FieldKind<unknown> = Object.freeze<FieldKind<unknown>>({
  name: "json",
  column: { scalar: "Json" },
  operators: NULL_ONLY,
  hasPaths: true,
  sortable: false,
  searchable: false,
  parse: () => unreadable("cannot be compared"),
  accepts: (_value): _value is unknown => false,
  schema: () =>
    z.unknown().refine((value) => value !== undefined && value !== null && isJsonValue(value), {
      error: `must be a JSON value at most ${MAX_DEPTH} levels deep`,
    }),
  compare: () => 0,
  toCell: (value) => JSON.stringify(value),
  fromCell: readJson,
});
