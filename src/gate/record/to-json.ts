import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import { checkDepth } from "../../kernel/index.ts";
import type { Row } from "../condition/where.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import { shapeOf } from "./record-shape.ts";
import { showsField } from "./row-access.ts";
import { present } from "./serialize.ts";
import { entityOfRecord } from "./tag-record.ts";

/**
 * A value as JSON text, with every record in it masked; a promise only where a mask was not final yet.
 * @returns undefined for what JSON cannot say (functions, undefined)
 */
export function toJson(value: unknown, scope: OperationScope): string | undefined | Promise<string | undefined> {
  const text = writeJson(value, scope, 0);
  return scope.maskReady()?.then(() => toJson(value, scope)) ?? text;
}

/**
 * What `JSON.stringify` makes of `present(value, scope, true)`. Records, and lists of them, are put together here without
 * objects in between, which takes a third of the time; everything else is left to it.
 */
function writeJson(value: unknown, scope: OperationScope, depth: number): string | undefined {
  if (typeof value !== "object" || value === null) return writePlain(value, scope, depth);
  checkDepth(depth);
  if (Array.isArray(value)) {
    let text = "";
    for (let i = 0; i < value.length; i++)
      text += `${i === 0 ? "" : ","}${writeJson(value[i], scope, depth + 1) ?? "null"}`;
    return `[${text}]`;
  }
  const entity = entityOfRecord(value);
  return entity === undefined ? writePlain(value, scope, depth) : writeRecord(value as Row, entity, scope, depth);
}

function writeRecord(record: Row, entity: AnyEntity, scope: OperationScope, depth: number): string {
  const mask = scope.mask(entity);
  scope.shown?.note(entity, record);
  const { columns, keys, furtherKeys, relations } = shapeOf(entity, mask);
  const perRow = mask.readablePerRow;
  // Piece by piece: a text put together before it is added would be one more of the many that a list is made of.
  let text = "{";
  for (let i = 0; i < columns.length; i++) {
    const { name, kind } = columns[i] as ColumnDefinition;
    const value = record[name];
    if (value === undefined) continue;
    const access = perRow?.get(name);
    if (access !== undefined && !showsField(scope, entity, record, name, access)) continue;
    const shown = kind.toWire === undefined || value === null ? value : kind.toWire(value);
    const isPlain = typeof shown === "string" && (kind.unescaped || !ESCAPED.test(shown));
    const written = isPlain ? shown : writePlain(shown, scope, depth + 1);
    if (written === undefined) continue;
    text += (text === "{" ? keys : furtherKeys)[i];
    if (isPlain) text += '"';
    text += written;
    if (isPlain) text += '"';
  }
  for (const name of relations) {
    const related = record[name];
    const written = related === undefined ? undefined : writeJson(related, scope, depth + 1);
    if (written !== undefined) text += `${text === "{" ? "" : ","}${JSON.stringify(name)}:${written}`;
  }
  return `${text}}`;
}

/** What JSON writes as an escape. Most texts have nothing of it, and looking is cheaper than writing them letter by letter. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

function writePlain(value: unknown, scope: OperationScope, depth: number): string | undefined {
  switch (typeof value) {
    case "string":
      return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`;
    case "number":
      return Number.isFinite(value) ? `${value}` : "null";
    case "boolean":
      return value ? "true" : "false";
    default:
      return value === null ? "null" : JSON.stringify(present(value, scope, true, depth));
  }
}
