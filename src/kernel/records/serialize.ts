import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import { InternalError } from "../errors/errors.ts";
import type { OperationScope } from "../operations/scope.ts";
import type { Row } from "../ports/driver.ts";
import { shapeOf } from "./record-shape.ts";
import { showsField } from "./row-access.ts";
import { entityOfRecord } from "./tag-record.ts";

/** Deeper results are refused before they overflow the stack; circular ones end here too. */
const MAX_DEPTH = 64;

/** @throws InternalError */
export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new InternalError("The result is nested too deeply, or circular");
}

/** Whoever is shown something; undefined when nobody knows who that is. */
type Viewer = OperationScope | undefined;

/**
 * A value as plain JSON data with every record in it, at any depth, masked for the caller. `wire`
 * turns moments into ISO text; without it they stay `Date`s, for callers in the process. Where a mask is not final yet it
 * shows too little; see `presentSettled`. Without a scope nobody knows who asks, and records are left out.
 */
export function present(value: unknown, scope: Viewer, wire: boolean, depth = 0): unknown {
  if (typeof value === "function") return undefined; // JSON would ask its `toJSON`
  if (typeof value !== "object" || value === null) return value;
  checkDepth(depth);
  if (Array.isArray(value)) return presentAll(value, scope, wire, depth);
  const entity = entityOfRecord(value);
  if (entity !== undefined) return scope && presentRecord(value as Row, entity, scope, wire, depth);
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

function presentAll(items: readonly unknown[], scope: Viewer, wire: boolean, depth: number): unknown[] {
  const all = new Array<unknown>(items.length);
  for (let i = 0; i < items.length; i++) all[i] = present(items[i], scope, wire, depth + 1);
  return all;
}

function presentRecord(record: Row, entity: AnyEntity, scope: OperationScope, wire: boolean, depth: number): Row {
  const mask = scope.mask(entity);
  scope.shown?.note(entity, record);
  const { columns, relations } = shapeOf(entity, mask);
  const perRow = mask.readablePerRow;
  const plain: Row = {};
  for (let i = 0; i < columns.length; i++) {
    const { name, kind } = columns[i] as ColumnDefinition;
    const value = record[name];
    if (value === undefined) continue;
    const access = perRow?.get(name);
    if (access !== undefined && !showsField(scope, entity, record, name, access)) continue;
    // Code may have put a record into a JSON column.
    if (kind.toWire === undefined) plain[name] = present(value, scope, wire, depth + 1);
    else plain[name] = wire && value !== null ? kind.toWire(value) : value;
  }
  for (const name of relations) {
    const related = record[name];
    if (related !== undefined) plain[name] = present(related, scope, wire, depth + 1);
  }
  return plain;
}

/** The only way out: as `present`, with masks that are final. It is presented again when it met some that were not. */
export async function presentSettled(value: unknown, scope: OperationScope, wire: boolean): Promise<unknown> {
  for (;;) {
    const plain = present(value, scope, wire);
    const pending = scope.maskReady();
    if (pending === undefined) return plain;
    await pending;
  }
}
