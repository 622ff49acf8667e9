import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import { InternalError } from "../errors/errors.ts";
import type { OperationScope } from "../operations/scope.ts";
import type { Row } from "../ports/driver.ts";
import type { FieldMask } from "./mask.ts";
import { entityOfRecord } from "./tag-record.ts";

/** Deeper results are refused before they overflow the stack; circular ones end here too. */
const MAX_DEPTH = 64;

interface Shape {
  readonly entity: AnyEntity;
  readonly columns: readonly ColumnDefinition[];
  readonly relations: readonly string[];
}

/** `"name":` per name, written once. */
const keys = new Map<string, string>();

const shapes = new WeakMap<FieldMask, Shape>();

/** Columns and relations a mask lets out, in declared order; worked out once per mask. */
function shapeOf(entity: AnyEntity, mask: FieldMask): Shape {
  let shape = shapes.get(mask);
  // Masks come from plugins, and one may serve several entities.
  if (shape?.entity !== entity) {
    shape = {
      entity,
      columns: Object.values(entity.columns).filter(({ name }) => mask.readable.has(name)),
      relations: Object.keys(entity.relations),
    };
    shapes.set(mask, shape);
  }
  return shape;
}

/**
 * The only way out: a value as plain JSON data with every record in it, at any depth, masked for the caller
 * (security.md item 5). `wire` turns moments into ISO text; without it they stay `Date`s, for callers in the process.
 */
export function present(value: unknown, scope: OperationScope, wire: boolean, depth = 0): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) throw new InternalError("The result is nested too deeply, or circular");
  if (Array.isArray(value)) return value.map((item) => present(item, scope, wire, depth + 1));
  const entity = entityOfRecord(value);
  if (entity !== undefined) return presentRecord(value as Row, entity, scope, wire, depth);
  if (value instanceof Date) return wire ? (Number.isNaN(value.getTime()) ? null : value.toISOString()) : value;
  if (typeof (value as { toJSON?: unknown }).toJSON === "function")
    return present((value as { toJSON(): unknown }).toJSON(), scope, wire, depth + 1);
  if (value instanceof Map) return present(Object.fromEntries(value), scope, wire, depth + 1);
  if (value instanceof Set) return present([...value], scope, wire, depth + 1);
  const plain: Record<string, unknown> = {};
  for (const name of Object.keys(value))
    plain[name] = present((value as Record<string, unknown>)[name], scope, wire, depth + 1);
  return plain;
}

function presentRecord(record: Row, entity: AnyEntity, scope: OperationScope, wire: boolean, depth: number): Row {
  const { columns, relations } = shapeOf(entity, scope.mask(entity));
  const plain: Row = {};
  for (let i = 0; i < columns.length; i++) {
    const { name, kind } = columns[i] as ColumnDefinition;
    const value = record[name];
    if (value === undefined) continue;
    plain[name] = wire && value !== null && kind.toWire !== undefined ? kind.toWire(value) : value;
  }
  for (const name of relations) {
    const related = record[name];
    if (related !== undefined) plain[name] = present(related, scope, wire, depth + 1);
  }
  return plain;
}

/** Text that goes between quotes as it is: nothing to escape, and short enough for the check to pay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const PLAIN = /^[^"\\\u0000-\u001f\ud800-\udfff]{0,2000}$/;

/**
 * A value as JSON text, records in it masked like `present` does. Records are written straight to text, since most
 * answers are made of nothing else.
 * @returns undefined for what JSON cannot say (functions, undefined)
 */
export function toJson(value: unknown, scope: OperationScope, depth = 0): string | undefined {
  if (Array.isArray(value) && depth < MAX_DEPTH) {
    let text = "[";
    for (let i = 0; i < value.length; i++)
      text += (i === 0 ? "" : ",") + (toJson(value[i], scope, depth + 1) ?? "null");
    return `${text}]`;
  }
  const entity = typeof value === "object" && value !== null ? entityOfRecord(value) : undefined;
  if (entity === undefined || depth >= MAX_DEPTH) return JSON.stringify(present(value, scope, true, depth));
  return recordToJson(value as Row, entity, scope, depth);
}

function recordToJson(record: Row, entity: AnyEntity, scope: OperationScope, depth: number): string {
  const { columns, relations } = shapeOf(entity, scope.mask(entity));
  let text = "";
  for (let i = 0; i < columns.length; i++) {
    const { name, kind } = columns[i] as ColumnDefinition;
    const value = record[name];
    if (value === undefined) continue;
    text += keyOf(name) + scalarToJson(value !== null && kind.toWire !== undefined ? kind.toWire(value) : value);
  }
  for (const name of relations) {
    const related = record[name];
    if (related !== undefined) text += keyOf(name) + (toJson(related, scope, depth + 1) ?? "null");
  }
  return text === "" ? "{}" : `{${text.slice(1)}}`;
}

function keyOf(name: string): string {
  let key = keys.get(name);
  if (key === undefined) {
    key = `,${JSON.stringify(name)}:`;
    keys.set(name, key);
  }
  return key;
}

function scalarToJson(value: unknown): string {
  if (typeof value === "string" && PLAIN.test(value)) return `"${value}"`;
  return JSON.stringify(value) ?? "null";
}
