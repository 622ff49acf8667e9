import type { AnyEntity, ColumnDefinition } from "../../entity/index.ts";
import { BadRequestError } from "../errors/errors.ts";
import type { Driver, FindManyQuery, Row, SortKey, Where } from "../ports/driver.ts";
import { ByteBudget } from "../records/byte-budget.ts";
import { allOf } from "./compile-where.ts";

/**
 * The order with `id` as its last key, so that it is total.
 * @param entity whose hidden columns are no keys: a cursor holds the values of its keys
 * @throws BadRequestError
 */
export function totalOrder(sort: readonly SortKey[] | undefined, entity?: AnyEntity): readonly SortKey[] {
  const keys = sort ?? [];
  const hidden = keys.find(({ field }) => entity?.hidden.includes(field))?.field;
  if (hidden !== undefined) throw new BadRequestError(`${entity?.name} cannot be sorted by "${hidden}"`);
  return keys.some((key) => key.field === "id") ? keys : [...keys, { field: "id", direction: "asc" }];
}

function signature(order: readonly SortKey[]): string {
  return order.map(({ field, direction }) => (direction === "desc" ? `-${field}` : field)).join(",");
}

/** Longer cursors would fit neither a header nor the URL they are sent back in. */
const MAX_CURSOR = 2_048;

/**
 * The position of a record in an order, as opaque text. It holds nothing but values the caller was shown or sorted by;
 * undefined when those are too long to travel.
 */
export function encodeCursor(order: readonly SortKey[], row: Row): string | undefined {
  const values = order.map(({ field }) => {
    const value = row[field];
    return value instanceof Date ? value.toISOString() : (value ?? null);
  });
  const cursor = Buffer.from(JSON.stringify([signature(order), ...values])).toString("base64url");
  return cursor.length <= MAX_CURSOR ? cursor : undefined;
}

/**
 * Values of a cursor, one per key of the order.
 * @throws BadRequestError when it was not made for this order, or not by us
 */
export function decodeCursor(entity: AnyEntity, order: readonly SortKey[], cursor: string): readonly unknown[] {
  const values = readJson(cursor);
  if (!Array.isArray(values) || values.length !== order.length + 1 || values[0] !== signature(order))
    throw new BadRequestError("The cursor does not belong to this list; start again without it");
  return order.map(({ field }, index) => {
    const value: unknown = values[index + 1];
    const column = entity.columns[field] as ColumnDefinition;
    if (value === null && column.optional) return null;
    const read = typeof value === "string" ? column.kind.parse(value) : { ok: column.kind.accepts(value), value };
    if (!read.ok) throw new BadRequestError("The cursor does not belong to this list; start again without it");
    return (read as { value: unknown }).value;
  });
}

function readJson(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Records strictly after a position. Null sorts as the smallest value. */
export function keysetWhere(entity: AnyEntity, order: readonly SortKey[], values: readonly unknown[]): Where {
  const branches: Where[] = [];
  const equal: Where[] = [];
  order.forEach(({ field, direction }, index) => {
    const value = values[index];
    const after = afterValue(entity.columns[field] as ColumnDefinition, direction, value);
    if (after !== undefined) branches.push({ AND: [...equal, after] });
    equal.push({ [field]: value });
  });
  return { OR: branches };
}

function afterValue(column: ColumnDefinition, direction: "asc" | "desc", value: unknown): Where | undefined {
  const { name, optional } = column;
  if (value === null) return direction === "asc" ? { [name]: { null: false } } : undefined;
  if (direction === "asc") return beyond(column, "gt", value);
  const smaller = beyond(column, "lt", value);
  return optional ? { OR: [smaller, { [name]: null }] } : smaller;
}

function beyond({ name, kind }: ColumnDefinition, operator: "gt" | "lt", value: unknown): Where {
  if (kind.operators.has(operator)) return { [name]: { [operator]: value } };
  const sign = operator === "gt" ? 1 : -1;
  return { [name]: { in: (kind.values ?? []).filter((other) => kind.compare(other, value) * sign > 0) } };
}

/** Bytes of a batch at most. */
const BATCH_BYTES = 8_388_608;

/** `Driver.stream` for drivers without a cursor of their own: one page after another, by keyset. */
export async function* streamByKeyset(
  driver: Driver,
  entity: AnyEntity,
  query: FindManyQuery = {},
  batchSize = 1_000,
): AsyncIterable<Row[]> {
  const order = totalOrder(query.sort);
  const extra =
    query.select === undefined ? [] : order.map(({ field }) => field).filter((field) => !query.select?.includes(field));
  const select = query.select && [...query.select, ...extra];
  let left = query.limit ?? Number.POSITIVE_INFINITY;
  let offset = query.offset;
  let where = query.where;
  while (left > 0) {
    const limit = Math.min(batchSize, left);
    const bytes = new ByteBudget(BATCH_BYTES);
    const rows = await driver.findMany(entity, { where, sort: order, limit, offset, select, bytes });
    const last = rows.at(-1);
    if (last === undefined) return;
    // Before the rows are handed over: what happens to them then must not move the position.
    const position = order.map(({ field }) => last[field] ?? null);
    for (const field of extra) for (const row of rows) delete row[field];
    yield rows;
    if (rows.length < limit && !bytes.isCut) return;
    left -= rows.length;
    offset = undefined;
    where = allOf(query.where, keysetWhere(entity, order, position));
  }
}
