import { allOf, type FindManyQuery, keysetWhere, type Row, rowBytes, totalOrder } from "../../kernel/index.ts";
import type { EntityPlan } from "./entity-plan.ts";

/** Rows of the first portion, whose size nobody knows yet. */
const FIRST = 20;
/** A portion has at most this many times the rows that have been seen before it. */
const GROWTH = 4;

type FindMany = (query: FindManyQuery) => Promise<Row[]>;

/**
 * The rows of a list that fit, where the database cannot be asked how long values are: a small portion first, and as many
 * more as fit by the longest row so far.
 */
export async function readInPortions({ entity }: EntityPlan, query: FindManyQuery, read: FindMany): Promise<Row[]> {
  const { bytes, limit = Number.POSITIVE_INFINITY, select, where } = query;
  const order = totalOrder(query.sort);
  const hasOrder = select === undefined || order.every(({ field }) => select.includes(field));
  if (bytes === undefined || limit <= FIRST || !hasOrder) return countBytes(await read(query), bytes);
  const rows: Row[] = [];
  let longest = 0;
  let seen = 0;
  let position = where;
  for (let size = FIRST; ; ) {
    const offset = seen === 0 ? query.offset : undefined;
    const portion = await read({ ...query, where: position, limit: size, offset });
    for (const row of portion) longest = Math.max(longest, rowBytes(row));
    seen += portion.length;
    rows.push(...countBytes(portion, bytes));
    const last = portion.at(-1);
    if (last === undefined || portion.length < size || bytes.isCut || seen >= limit) return rows;
    position = allOf(
      where,
      keysetWhere(
        entity,
        order,
        order.map(({ field }) => last[field] ?? null),
      ),
    );
    size = Math.min(limit - seen, seen * GROWTH, Math.max(1, Math.floor(bytes.left / Math.max(1, longest))));
  }
}

function countBytes(rows: Row[], bytes: FindManyQuery["bytes"]): Row[] {
  return bytes === undefined ? rows : rows.slice(0, bytes.take(rows.map(rowBytes)));
}
