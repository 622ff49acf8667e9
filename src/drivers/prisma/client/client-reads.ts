import type { AnyEntity, ColumnDefinition, Provider } from "../../../entity/index.ts";
import {
  and,
  type Count,
  countedBytes,
  type Find,
  keysetCondition,
  mostRowBytes,
  RANK,
  type Row,
  type SortKey,
  soleId,
  totalOrder,
} from "../../../gate/index.ts";
import { assertColumns, type ById, byId, orderOf, readTogether } from "../../sql/index.ts";
import {
  type Args,
  type ClientPlan,
  type ClientSession,
  isTooLong,
  type ModelApi,
  modelApi,
} from "./client-connection.ts";
import { lockRows } from "./client-writes.ts";
import { prismaWhere, saysAll, toPrismaWhere } from "./to-prisma-where.ts";

/** Reads records in a session. */
export function clientFind(session: ClientSession): (find: Find) => Promise<Row[]> {
  // Not in a transaction, which has one connection and needs its rows read there.
  const readById = session.inTransaction ? undefined : createReadById(session);

  async function findRows(find: Find): Promise<Row[]> {
    const open = session.connection();
    const { where: condition, sort, limit, offset = 0 } = find;
    const plan = open.planOf(find.entity);
    const select = selection(plan, find.select);
    const isOne = sort === undefined && soleId(condition) !== undefined;
    const args: Record<string, unknown> = { select };
    if (!isOne) args.orderBy = toPrismaSort(plan.entity, sort, open.dialect.provider === "postgresql");
    if (limit === 0) return [];
    if (limit !== undefined) args.take = limit;
    if (offset > 0) args.skip = offset;
    return session.read({ model: plan.entity.name, operation: "find" }, async (client) => {
      args.where = await prismaWhere(open, client, plan.entity, condition);
      const api = modelApi(client, plan);
      if (isSortedHere(plan.entity, sort, open.dialect.provider))
        return findLongList(api, plan.entity, args, { sort, limit, offset });
      try {
        return await api.findMany(args);
      } catch (error) {
        if (!isTooLong(error)) throw error;
        return findLongList(api, plan.entity, args, { sort, limit, offset });
      }
    });
  }

  return async (find) => {
    const plan = session.connection().planOf(find.entity);
    const { where, limit, offset = 0, bytes } = find;
    if (find.lock) return lockRows(session, find);
    const select = selection(plan, find.select);
    const isOne = limit === 1 && offset === 0 && select.id === true;
    const single = isOne ? byId(where) : undefined;
    if (readById !== undefined && single !== undefined && saysAll(session.connection(), where))
      return readById(plan, select, single);
    if (bytes === undefined || mostRowBytes(plan.entity) * (limit ?? 0) <= bytes.left) return findRows(find);
    return readInPortions(find, findRows);
  };
}

function selection({ entity, columns }: ClientPlan, select: readonly string[] | undefined): Args {
  if (select === undefined) return columns;
  assertColumns(entity, select);
  return Object.fromEntries(select.map((name) => [name, true]));
}

/** Removes the rank from sort keys; Prisma's client cannot sort by it. */
function withoutRank(sort: readonly SortKey[] | undefined): readonly SortKey[] | undefined {
  return sort?.filter(({ field }) => field !== RANK);
}

/** Whether rows must be sorted in memory: SQLite has no enums, whose values sort by their position. */
function isSortedHere(entity: AnyEntity, sort: readonly SortKey[] | undefined, provider: Provider): boolean {
  return (
    provider === "sqlite" && sort?.some(({ field }) => entity.columns[field]?.kind.column.scalar === "Enum") === true
  );
}

/**
 * Converts sort keys for Prisma. @param namesNulls whether to state the position of nulls; elsewhere null is the
 * smallest value
 */
function toPrismaSort(entity: AnyEntity, sort: readonly SortKey[] | undefined, namesNulls: boolean): Args[] {
  return orderOf(entity, withoutRank(sort)).map(({ field, direction }) => {
    if (!namesNulls || entity.columns[field]?.optional !== true) return { [field]: direction };
    return { [field]: { sort: direction, nulls: direction === "asc" ? "first" : "last" } };
  });
}

/** Reads that can share a statement: the same columns with the same other conditions. */
interface Group {
  readonly plan: ClientPlan;
  readonly select: Args;
  /** Conditions other than the id. */
  readonly rest: Args;
}

/** Reads single records by id, together with other reads of the same event loop turn. */
function createReadById(session: ClientSession): (plan: ClientPlan, select: Args, condition: ById) => Promise<Row[]> {
  const read = readTogether(async ({ plan, select, rest }: Group, ids) => {
    const statement = { model: plan.entity.name, operation: "find" };
    return session.read(statement, async (client) => {
      const api = modelApi(client, plan);
      if (ids.length > 1) return api.findMany({ where: { id: { in: padded(ids) }, ...rest }, select });
      const row = await api.findFirst({ where: { id: ids[0], ...rest }, select });
      return row === null ? [] : [row];
    });
  });
  return (plan, select, { id, rest }) => {
    const where = toPrismaWhere(rest, session.connection());
    const group: Group = { plan, select, rest: "id" in where ? { AND: [where] } : where };
    return read(`${plan.entity.name} ${Object.keys(select).join()} ${JSON.stringify(where)}`, group, id);
  };
}

/**
 * Pads ids with the last one to a power of two, so that the database sees a few different statements, not one per
 * number.
 */
function padded(ids: readonly string[]): readonly string[] {
  const length = 2 ** Math.ceil(Math.log2(ids.length));
  return [...ids, ...Array<string>(length - ids.length).fill(ids.at(-1) as string)];
}

/** Size of the first portion, which is read before the size of any row is known. */
const FIRST = 20;
/** A portion has at most this many times the rows seen before it. */
const GROWTH = 4;

/**
 * Reads the rows of a list that fit, if the database cannot report the length of values: a small portion first, then as
 * many as fit judging by the longest row so far.
 */
async function readInPortions(find: Find, read: (find: Find) => Promise<Row[]>): Promise<Row[]> {
  const { entity, bytes, counted, limit = Number.POSITIVE_INFINITY, select, where } = find;
  const order = totalOrder(find.sort);
  const hasOrder = select === undefined || order.every(({ field }) => select.includes(field));
  if (bytes === undefined || limit <= FIRST || !hasOrder) return countBytes(await read(find), find);
  const rows: Row[] = [];
  let longest = 0;
  let seen = 0;
  let position = where;
  for (let size = FIRST; ; ) {
    const offset = seen === 0 ? find.offset : undefined;
    const portion = await read({ ...find, where: position, limit: size, offset });
    for (const row of portion) longest = Math.max(longest, countedBytes(row, counted));
    seen += portion.length;
    rows.push(...countBytes(portion, find));
    const last = portion.at(-1);
    if (last === undefined || portion.length < size || bytes.isCut || seen >= limit) return rows;
    const values = order.map(({ field }) => last[field] ?? null);
    position = and([where, keysetCondition(entity, order, values, where)]);
    size = Math.min(limit - seen, seen * GROWTH, Math.max(1, Math.floor(bytes.left / Math.max(1, longest))));
  }
}

function countBytes(rows: Row[], { bytes, counted }: Find): Row[] {
  return bytes === undefined ? rows : rows.slice(0, bytes.take(rows.map((row) => countedBytes(row, counted))));
}

/** Counts the matching records. */
export async function countRows(
  session: ClientSession,
  { entity, where: condition, most: take }: Count,
): Promise<number> {
  const open = session.connection();
  const plan = open.planOf(entity);
  return session.read({ model: entity.name, operation: "count" }, async (client) => {
    const where = await prismaWhere(open, client, plan.entity, condition);
    const api = modelApi(client, plan);
    try {
      return await api.count({ where, take });
    } catch (error) {
      if (!isTooLong(error)) throw error;
      return (await api.findMany({ where, select: { id: true } })).length;
    }
  });
}

/** Reads one page of the rows for a condition that is too long for one statement; sorts them in memory. */
async function findLongList(
  api: ModelApi,
  entity: AnyEntity,
  { where, select }: Args,
  { sort, limit, offset = 0 }: Pick<Find, "sort" | "limit" | "offset">,
): Promise<Row[]> {
  const keys = totalOrder(sort);
  const columns = select as Args;
  const sorting = Object.fromEntries(keys.map(({ field }) => [field, true]));
  const rows = await api.findMany({ where, select: { ...columns, ...sorting } });
  rows.sort((first, second) => {
    for (const { field, direction } of keys) {
      const order = compareValues(entity.columns[field] as ColumnDefinition, first[field], second[field]);
      if (order !== 0) return direction === "desc" ? -order : order;
    }
    return 0;
  });
  const names = Object.keys(columns);
  return rows
    .slice(offset, limit === undefined ? undefined : offset + limit)
    .map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
}

function compareValues(column: ColumnDefinition, a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  return column.kind.compare(a, b);
}
