import { type ColumnDefinition, type ColumnType, isJsonValue } from "../../entity/index.ts";
import { DatabaseError, type Row } from "../../kernel/index.ts";
import type { EntityPlan } from "./entity-plan.ts";
import { exactNumber } from "./exact-number.ts";

const INT32 = 2 ** 31;

/**
 * What a column can hold. Prisma would store NaN as null, 1.5 in a whole number as 1 and half a surrogate pair as
 * U+FFFD, and would take an object for an operation (`{ increment: 1 }`).
 */
const HOLDS: Readonly<Record<ColumnType["scalar"], (value: unknown) => boolean>> = {
  String: (value) => typeof value === "string" && value.isWellFormed() && !value.includes("\u0000"),
  Int: (value) => Number.isInteger(value) && (value as number) >= -INT32 && (value as number) < INT32,
  Float: (value) => Number.isFinite(value),
  Boolean: (value) => typeof value === "boolean",
  DateTime: (value) => value instanceof Date && !Number.isNaN(value.getTime()),
  Json: isJsonValue,
};

function holds({ kind, optional }: ColumnDefinition, value: unknown): boolean {
  return value === null ? optional : HOLDS[kind.column.scalar](value);
}

/** Plain strings that Prisma reads as its words for two kinds of null. */
const NULL_WORDS: ReadonlySet<unknown> = new Set(["DbNull", "JsonNull", "AnyNull"]);

/** A copy; a string that is one of Prisma's words goes in its own wire form, where it is a string like any other. */
function toPrismaJson(value: unknown): unknown {
  if (!NULL_WORDS.has(value)) return structuredClone(value);
  return { toJSON: () => ({ $type: "Json", value: JSON.stringify(value) }) };
}

/**
 * Submitted values in Prisma's words: a copy, so that the caller may go on with the original. What is undefined counts
 * as not submitted.
 * @throws DatabaseError for names that are no columns and values that the column cannot hold
 */
export function toPrismaData({ entity, jsonColumns }: EntityPlan, data: Row, dbNull: unknown): Row {
  const given: Row = {};
  for (const name of Object.keys(data)) {
    const column = Object.hasOwn(entity.columns, name) ? entity.columns[name] : undefined;
    if (column === undefined) throw new DatabaseError(`${entity.name} has no column "${name}"`);
    const value = data[name];
    if (value === undefined) continue;
    if (!holds(column, value)) throw new DatabaseError(`${entity.name}.${name} cannot hold this value`);
    if (!jsonColumns.has(name)) given[name] = exactNumber(value);
    else given[name] = value === null ? dbNull : toPrismaJson(value);
  }
  return given;
}
