import type { AnyEntity } from "../../../entity/index.ts";
import {
  and,
  type ChangePairs,
  type Condition,
  countedBytes,
  type DriverPort,
  type Execute,
  type Find,
  type Insert,
  keysetCondition,
  mostRowBytes,
  type ResultOf,
  type Row,
  type SortKey,
  type Statement,
  soleId,
  totalOrder,
  type Update,
  type Written,
} from "../../../gate/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";
import { byId, type Fast } from "../../sql/index.ts";
import { connectLinks, disconnectLinks, needsSeveralPortions } from "./links/link-statements.ts";
import { selectLinks } from "./links/select-links.ts";
import { createReadById } from "./read-by-id.ts";
import type { ClientSession } from "./words/client-connection.ts";
import type { ClientDialect } from "./words/client-dialect.ts";
import type { ClientPlan } from "./words/client-plan.ts";
import { type Args, modelApi } from "./words/client-shape.ts";
import { countLongList, findLongList, isTooLong } from "./words/find-long-list.ts";
import { toPrismaData } from "./words/to-prisma-data.ts";
import { prismaWhere, saysAll } from "./words/where-for.ts";
import {
  deleteRows,
  insertRow,
  insertRows,
  lockRow,
  needsSeveralInserts,
  updateRow,
  updateRows,
} from "./write-statements.ts";

/** Rows of the first portion, read before the size of any row is known. */
const FIRST = 20;
/** A portion has at most this many times the rows that have been seen before it. */
const GROWTH = 4;

type FindPortion = (find: Find) => Promise<Row[]>;

/**
 * The rows of a list that fit, where the database cannot be asked how long values are: a small portion first, and as many
 * more as fit by the longest row so far.
 */
async function readInPortions(find: Find, read: FindPortion): Promise<Row[]> {
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
    position = and([where, keysetCondition(entity, order, values)]);
    size = Math.min(limit - seen, seen * GROWTH, Math.max(1, Math.floor(bytes.left / Math.max(1, longest))));
  }
}

function countBytes(rows: Row[], { bytes, counted }: Find): Row[] {
  return bytes === undefined ? rows : rows.slice(0, bytes.take(rows.map((row) => countedBytes(row, counted))));
}

function selection({ entity, columns }: ClientPlan, select: readonly string[] | undefined): Args {
  if (select === undefined) return columns;
  for (const name of select)
    if (!Object.hasOwn(entity.columns, name)) throw new BadRequestError(`${entity.name} has no field "${name}"`);
  return Object.fromEntries(select.map((name) => [name, true]));
}

/**
 * Runs statements through a PrismaClient. Data is copied when a statement is given, so that later changes to it do not
 * matter while the statement waits for its turn.
 */
export function clientExecutor(session: ClientSession, transaction: DriverPort["transaction"], fast: Fast): Execute {
  const find = clientFind(session, fast);

  async function insert(statement: Insert): Promise<Written> {
    const open = session.connection();
    const plan = open.planOf(statement.entity);
    const { rows, returning } = statement;
    if (returning === true) return { count: 1, rows: [await insertRow(session, plan, rows[0] as Row)] };
    const given = rows.map((row) => toPrismaData(plan, row, open));
    if (session.inTransaction || !needsSeveralInserts(given))
      return { count: await insertRows(session, plan, given), rows: [] };
    return transaction((execute) => execute(statement));
  }

  async function update({ entity, where, data, returning }: Update): Promise<Written> {
    const plan = session.connection().planOf(entity);
    if (returning !== true) return { count: await updateRows(session, plan, where, data), rows: [] };
    const row = await updateRow(session, plan, where, data);
    return row === null ? { count: 0, rows: [] } : { count: 1, rows: [row] };
  }

  async function changePairs(statement: ChangePairs): Promise<undefined> {
    if (session.inTransaction || !needsSeveralPortions(statement.targets))
      return statement.kind === "link" ? connectLinks(session, statement) : disconnectLinks(session, statement);
    return transaction((execute) => execute(statement));
  }

  async function run(statement: Statement): Promise<ResultOf<Statement>> {
    const open = session.connection();
    switch (statement.kind) {
      case "find":
        return find(statement);
      case "count":
        return countRows(session, open.planOf(statement.entity), statement.where);
      case "insert":
        return insert(statement);
      case "update":
        return update(statement);
      case "delete":
        return { count: await deleteRows(session, open.planOf(statement.entity), statement.where), rows: [] };
      case "pairs":
        return selectLinks(session, statement);
      default:
        return changePairs(statement);
    }
  }
  return run as Execute;
}

/** Reads records in a session. */
function clientFind(session: ClientSession, fast: Fast): (find: Find) => Promise<Row[]> {
  // A transaction has one connection, and rows that are told apart by id need it.
  const readById = fast.sharedReads && !session.inTransaction ? createReadById(session) : undefined;

  async function findRows(find: Find): Promise<Row[]> {
    const open = session.connection();
    const { where: condition, sort, limit, offset = 0 } = find;
    const plan = open.planOf(find.entity);
    const select = selection(plan, find.select);
    const isOne = sort === undefined && soleId(condition) !== undefined;
    const orderBy = isOne ? undefined : toPrismaSort(plan.entity, sort, open.dialect);
    if (limit === 0) return [];
    return session.read({ model: plan.entity.name, operation: "find" }, async (client) => {
      const where = await prismaWhere(open, client, plan.entity, condition);
      const api = modelApi(client, plan.delegate);
      const args: Record<string, unknown> = { where, select };
      if (orderBy !== undefined) args.orderBy = orderBy;
      if (limit !== undefined) args.take = limit;
      if (offset > 0) args.skip = offset;
      try {
        return await api.findMany(args);
      } catch (error) {
        if (!isTooLong(error)) throw error;
        return findLongList(api, plan.entity, where, { columns: select, sort, limit, offset });
      }
    });
  }

  return async (find) => {
    const open = session.connection();
    const plan = open.planOf(find.entity);
    const { where, limit, offset = 0, bytes } = find;
    if (find.lock === true) return lockRow(session, plan, where);
    const select = selection(plan, find.select);
    const isOne = limit === 1 && offset === 0 && select.id === true;
    const single = isOne ? byId(where) : undefined;
    if (readById !== undefined && single !== undefined && saysAll(open.dialect, where)) {
      const row = await readById(plan, select, single);
      return row === null ? [] : [row];
    }
    if (bytes === undefined || mostRowBytes(plan.entity) * (limit ?? 0) <= bytes.left) return findRows(find);
    return readInPortions(find, findRows);
  };
}

async function countRows(session: ClientSession, plan: ClientPlan, condition: Condition): Promise<number> {
  const open = session.connection();
  return session.read({ model: plan.entity.name, operation: "count" }, async (client) => {
    const where = await prismaWhere(open, client, plan.entity, condition);
    const api = modelApi(client, plan.delegate);
    try {
      return await api.count({ where });
    } catch (error) {
      if (!isTooLong(error)) throw error;
      return countLongList(api, where);
    }
  });
}

/**
 * An order in Prisma's words, total by ending with the id; null is the smallest value.
 * @throws BadRequestError for what is no sortable column
 */
function toPrismaSort(entity: AnyEntity, sort: readonly SortKey[] | undefined, dialect: ClientDialect): Args[] {
  return totalOrder(sort).map(({ field, direction }) => {
    const column = Object.hasOwn(entity.columns, field) ? entity.columns[field] : undefined;
    if (column?.kind.sortable !== true) throw new BadRequestError(`${entity.name} cannot be sorted by "${field}"`);
    if (!column.optional || !dialect.ordersNulls) return { [field]: direction };
    return { [field]: { sort: direction, nulls: direction === "asc" ? "first" : "last" } };
  });
}
