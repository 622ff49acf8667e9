import { type AnyEntity, type ColumnDefinition, isObject } from "../../entity/index.ts";
import { BadRequestError } from "../../kernel/index.ts";
import {
  ALWAYS,
  and,
  type Condition,
  compare,
  compareExactly,
  not,
  or,
  type Row,
  related,
} from "../condition/condition.ts";
import { ByteBudget } from "./byte-budget.ts";
import type { SortKey } from "./driver-port.ts";
import type { Execute, Find } from "./statement.ts";

/**
 * Adds `id` as the last sort key, so that the order is total.
 * @param entity the entity whose hidden columns cannot be sort keys, since a cursor contains the values of its keys
 * @throws BadRequestError
 */
export function totalOrder(sort: readonly SortKey[] | undefined, entity?: AnyEntity): readonly SortKey[] {
  const keys = sort ?? [];
  const hidden = keys.find(({ field }) => entity?.hidden.includes(field))?.field;
  if (hidden !== undefined) throw new BadRequestError(`${entity?.name} cannot be sorted by "${hidden}"`);
  return keys.some((key) => key.field === "id") ? keys : [...keys, { field: "id", direction: "asc" }];
}

/** The column of a sort key. */
export function columnOf(entity: AnyEntity, { field, through }: SortKey): ColumnDefinition | undefined {
  const { columns } = through?.at(-1)?.relation.target ?? entity;
  const name = through === undefined ? field : field.slice(field.lastIndexOf(".") + 1);
  return Object.hasOwn(columns, name) ? columns[name] : undefined;
}

/** Applies a condition to the record at the end of a sort key's path. */
function along({ through = [] }: SortKey, condition: Condition): Condition {
  return through.reduceRight((inner, { relation, where }) => related(relation, and([where, inner])), condition);
}

function signature(order: readonly SortKey[]): string {
  return order.map(({ field, direction }) => (direction === "desc" ? `-${field}` : field)).join(",");
}

/** In a cursor, stands for the value stored in the database. */
const STORED = Object.freeze({});

/** Whether a column of an existing table may store values that records cannot represent. */
function mayBeStored(column: ColumnDefinition | undefined, { through }: SortKey): boolean {
  return column?.existing === true && column.role !== "id" && through === undefined;
}

/** Whether a value is invalid for its column's kind: NaN, a time of 24:00, an undeclared enum value. */
function isForeign(entity: AnyEntity, key: SortKey, value: unknown): boolean {
  const column = columnOf(entity, key);
  if (value === null || !mayBeStored(column, key) || column?.kind.column.scalar === "DateTime") return false;
  return column?.kind.accepts(value) === false;
}

/** Whether a column may be null in records: SQLite texts that are not datetimes are read as null. */
function mayBeNull({ optional, existing, kind }: ColumnDefinition, { through }: SortKey): boolean {
  return optional || through !== undefined || (existing === true && kind.column.scalar === "DateTime");
}

/** Maximum length of a cursor, which must fit into a header and a URL. */
const MAX_CURSOR = 2_048;

/**
 * Encodes the position of a record in an order as opaque text. It contains only values that the caller was shown or
 * sorted by; undefined when they are too long for a URL.
 */
export function encodeCursor(order: readonly SortKey[], row: Row, entity?: AnyEntity): string | undefined {
  const values = order.map((key) => {
    const value = row[key.field] ?? null;
    if (entity !== undefined && isForeign(entity, key, value)) return STORED;
    if (typeof value === "bigint") return String(value);
    return value instanceof Date ? value.toISOString() : value;
  });
  const cursor = Buffer.from(JSON.stringify([signature(order), ...values])).toString("base64url");
  return cursor.length <= MAX_CURSOR ? cursor : undefined;
}

/**
 * Decodes the values of a cursor, one per sort key.
 * @throws BadRequestError when the cursor belongs to another order or was not made by Keelson
 */
export function decodeCursor(entity: AnyEntity, order: readonly SortKey[], cursor: string): readonly unknown[] {
  const values = readJson(cursor);
  if (!Array.isArray(values) || values.length !== order.length + 1 || values[0] !== signature(order))
    throw new BadRequestError("The cursor does not belong to this list; start again without it");
  return order.map((key, index) => {
    const value: unknown = values[index + 1];
    const column = columnOf(entity, key) as ColumnDefinition;
    if (value === null && mayBeNull(column, key)) return null;
    if (isObject(value) && mayBeStored(column, key)) return STORED;
    const read = typeof value === "string" ? column.kind.parse(value) : { ok: column.kind.accepts(value), value };
    if (!read.ok) throw new BadRequestError("The cursor does not belong to this list; start again without it");
    return (read as { value: unknown }).value;
  });
}

/**
 * Encodes the position of a record in an order that depends on the query, such as a rank: the number of preceding
 * records.
 */
export function encodeOffset(order: readonly SortKey[], offset: number): string {
  return Buffer.from(JSON.stringify([signature(order), offset])).toString("base64url");
}

/** @param most the maximum number of records to skip @throws BadRequestError */
export function decodeOffset(order: readonly SortKey[], cursor: string, most: number): number {
  const values = readJson(cursor);
  const offset: unknown = Array.isArray(values) && values[0] === signature(order) ? values[1] : undefined;
  if (!Number.isInteger(offset) || (offset as number) < 0)
    throw new BadRequestError("The cursor does not belong to this list; start again without it");
  if ((offset as number) > most)
    throw new BadRequestError(`A search shows its first ${most} records; search for more words`);
  return offset as number;
}

function readJson(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

/**
 * The condition of records strictly after a position. Null sorts as the smallest value.
 * @param within the condition of the list; values of records outside the list are not read from the database. @default
 *   any record
 */
export function keysetCondition(
  entity: AnyEntity,
  order: readonly SortKey[],
  values: readonly unknown[],
  within = ALWAYS,
): Condition {
  const branches: Condition[] = [];
  const equal: Condition[] = [];
  const id = order.findIndex(({ field }) => field === "id");
  const ofRecord = compare(entity.columns.id as ColumnDefinition, "eq", values[id]);
  order.forEach((key, index) => {
    const column = columnOf(entity, key) as ColumnDefinition;
    const value = values[index];
    const isOwn = key.through === undefined;
    const hasValue = along(key, not(compareExactly(column, "eq", null)));
    if (value === null) {
      if (key.direction === "asc") branches.push(and([...equal, hasValue]));
      equal.push(not(hasValue));
      return;
    }
    const { next, bounds } = column.kind;
    const isOdd = value === STORED || isForeign(entity, key, value);
    const isFine = isOwn && column.existing === true && (next !== undefined || bounds !== undefined);
    const same = isOdd ? ALWAYS : compare(column, "eq", value);
    const record = isOdd || isFine ? { entity, where: and([within, ofRecord, same]) } : undefined;
    const isExact = isOwn && column.kind.values === undefined && column.parts === undefined;
    const compared = (test: "eq" | "gt" | "lt"): Condition =>
      along(
        key,
        isExact || isOdd
          ? compareExactly(column, test, isOdd ? undefined : value, record)
          : compare(column, test, value),
      );
    const isLater = compared(key.direction === "asc" ? "gt" : "lt");
    const isBeforeNull = key.direction === "desc" && mayBeNull(column, key);
    branches.push(and([...equal, isBeforeNull ? or([isLater, not(hasValue)]) : isLater]));
    equal.push(compared("eq"));
  });
  return or(branches);
}

/** Maximum size of a batch in bytes. */
const BATCH_BYTES = 8_388_608;

/** Yields the records of a `find` in batches, page by page, by keyset. */
export async function* streamByKeyset(execute: Execute, find: Find, batchSize = 1_000): AsyncIterable<Row[]> {
  const { entity, select, where } = find;
  const order = totalOrder(find.sort);
  const extra = order.map(({ field }) => field).filter((field) => select?.includes(field) === false);
  const columns = select && [...select, ...extra];
  let left = find.limit ?? Number.POSITIVE_INFINITY;
  let page = find;
  while (left > 0) {
    const limit = Math.min(batchSize, left);
    const bytes = new ByteBudget(BATCH_BYTES);
    const rows = await execute({ ...page, sort: order, limit, select: columns, bytes });
    const last = rows.at(-1);
    if (last === undefined) return;
    // Read before the rows are yielded, since the consumer may change them.
    const position = order.map(({ field }) => last[field] ?? null);
    for (const field of extra) for (const row of rows) delete row[field];
    yield rows;
    if (rows.length < limit && !bytes.isCut) return;
    left -= rows.length;
    page = { ...find, offset: undefined, where: and([where, keysetCondition(entity, order, position, where)]) };
  }
}
