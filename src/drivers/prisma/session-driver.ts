import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import {
  allOf,
  BadRequestError,
  type Condition,
  compileWhere,
  type Driver,
  type EntityRef,
  type FindManyQuery,
  keysetWhere,
  mostRowBytes,
  type Row,
  rowBytes,
  type SortKey,
  soleId,
  streamByKeyset,
  totalOrder,
  type Where,
} from "../../kernel/index.ts";
import { type Args, modelApi } from "./client-shape.ts";
import type { Statements } from "./create-prisma-driver.ts";
import type { Dialect } from "./dialect.ts";
import type { EntityPlan } from "./entity-plan.ts";
import { countLongList, findLongList, isTooLong } from "./find-long-list.ts";
import { connectLinks, disconnectLinks, needsSeveralPortions } from "./link-statements.ts";
import { selectLinks } from "./links/select-links.ts";
import { oneRecord, pairsOf, someRecords } from "./port-checks.ts";
import { byId, createReadById } from "./read-by-id.ts";
import type { Session } from "./session.ts";
import { toPrismaData } from "./to-prisma-data.ts";
import { prismaWhere, saysAll } from "./where-for.ts";
import { deleteRows, insertRow, insertRows, needsSeveralInserts, updateRow, updateRows } from "./write-statements.ts";

/** Rows of the first portion, whose size nobody knows yet. */
const FIRST = 20;
/** A portion has at most this many times the rows that have been seen before it. */
const GROWTH = 4;

type FindMany = (query: FindManyQuery) => Promise<Row[]>;

/**
 * The rows of a list that fit, where the database cannot be asked how long values are: a small portion first, and as many
 * more as fit by the longest row so far.
 */
async function readInPortions({ entity }: EntityPlan, query: FindManyQuery, read: FindMany): Promise<Row[]> {
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

function selection({ entity, columns }: EntityPlan, select: readonly string[] | undefined): Args {
  if (select === undefined) return columns;
  for (const name of select)
    if (!Object.hasOwn(entity.columns, name)) throw new BadRequestError(`${entity.name} has no field "${name}"`);
  return Object.fromEntries(select.map((name) => [name, true]));
}

/**
 * The port's statements over a session. Conditions are compiled and data is copied when a method is called, so that
 * nobody changes them while the statement waits for its turn.
 */
export function sessionStatements(session: Session, transaction: Driver["transaction"]): Statements {
  const readById = createReadById(session);

  const planOf = (ref: EntityRef): EntityPlan => session.connection().planOf(ref);
  const compile = ({ entity }: EntityPlan, where: Where | undefined): Condition =>
    compileWhere(session.connection().model, entity, where);

  const relationOf = ({ entity }: EntityPlan, name: string): ResolvedRelation =>
    pairsOf(session.connection().model, entity, name);

  async function findOne(
    ref: EntityRef,
    where: Where,
    options?: { select?: readonly string[] | undefined },
  ): Promise<Row | null> {
    const open = session.connection();
    const plan = open.planOf(ref);
    const select = selection(plan, options?.select);
    const condition = compile(plan, where);
    // A transaction has one connection, and rows that are told apart by id need it.
    const single = session.inTransaction || select.id !== true ? undefined : byId(condition);
    if (single !== undefined && saysAll(open.dialect, condition)) return readById(plan, select, single);
    return session.read({ model: plan.entity.name, operation: "findOne" }, async (client) =>
      modelApi(client, plan.delegate).findFirst({
        where: await prismaWhere(open, client, plan.entity, condition),
        select,
        ...(soleId(condition) === undefined ? { orderBy: { id: "asc" } } : {}),
      }),
    );
  }

  async function findMany(ref: EntityRef, query: FindManyQuery = {}): Promise<Row[]> {
    const plan = planOf(ref);
    if (query.bytes === undefined || mostRowBytes(plan.entity) * (query.limit ?? 0) <= query.bytes.left)
      return findRows(plan, query);
    return readInPortions(plan, query, (portion) => findRows(plan, portion));
  }

  async function findRows(plan: EntityPlan, query: FindManyQuery): Promise<Row[]> {
    const open = session.connection();
    const { sort, limit, offset = 0 } = query;
    const select = selection(plan, query.select);
    const orderBy = toPrismaSort(plan.entity, sort, open.dialect);
    const condition = compile(plan, query.where);
    if (limit === 0) return [];
    return session.read({ model: plan.entity.name, operation: "findMany" }, async (client) => {
      const where = await prismaWhere(open, client, plan.entity, condition);
      const api = modelApi(client, plan.delegate);
      const args: Record<string, unknown> = { where, select, orderBy };
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

  async function count(ref: EntityRef, where?: Where): Promise<number> {
    const open = session.connection();
    const plan = open.planOf(ref);
    const condition = compile(plan, where);
    return session.read({ model: plan.entity.name, operation: "count" }, async (client) => {
      const found = await prismaWhere(open, client, plan.entity, condition);
      const api = modelApi(client, plan.delegate);
      try {
        return await api.count({ where: found });
      } catch (error) {
        if (!isTooLong(error)) throw error;
        return countLongList(api, found);
      }
    });
  }

  async function createMany(ref: EntityRef, rows: readonly Row[]): Promise<number> {
    const plan = planOf(ref);
    const open = session.connection();
    const given = rows.map((row) => toPrismaData(plan, row, open));
    if (session.inTransaction || !needsSeveralInserts(given)) return insertRows(session, plan, given);
    return transaction((driver) => driver.createMany(ref, rows));
  }

  return {
    async ping() {
      await session.read({ operation: "ping" }, (client) => client.$queryRawUnsafe("SELECT 1"));
    },
    findOne,
    findMany,
    count,
    async create(ref, data) {
      return insertRow(session, planOf(ref), data);
    },
    createMany,
    async update(ref, where, data) {
      const plan = planOf(ref);
      return updateRow(session, plan, oneRecord(plan, compile(plan, where)), data);
    },
    async updateMany(ref, where, data) {
      const plan = planOf(ref);
      return updateRows(session, plan, someRecords(plan, compile(plan, where)), data);
    },
    async delete(ref, where) {
      const plan = planOf(ref);
      return (await deleteRows(session, plan, oneRecord(plan, compile(plan, where)), true)) > 0;
    },
    async deleteMany(ref, where) {
      const plan = planOf(ref);
      return deleteRows(session, plan, someRecords(plan, compile(plan, where)), false);
    },
    async *stream(ref, query, batchSize) {
      yield* streamByKeyset({ findMany } as Driver, planOf(ref).entity, query, batchSize);
    },
    async links(ref, relation, ids, { where, limit = Number.POSITIVE_INFINITY } = {}) {
      const resolved = relationOf(planOf(ref), relation);
      const condition = compile(planOf(resolved.target), where);
      return selectLinks(session, resolved, { ids: [...ids], condition, limit });
    },
    async link(ref, relation, id, targets) {
      const plan = planOf(ref);
      const resolved = relationOf(plan, relation);
      const ids = [...new Set(targets)];
      if (session.inTransaction || !needsSeveralPortions(ids)) return connectLinks(session, plan, resolved, id, ids);
      return transaction((driver) => driver.link(ref, relation, id, ids));
    },
    async unlink(ref, relation, id, targets) {
      const plan = planOf(ref);
      const resolved = relationOf(plan, relation);
      const ids = [...new Set(targets)];
      if (session.inTransaction || !needsSeveralPortions(ids)) return disconnectLinks(session, plan, resolved, id, ids);
      return transaction((driver) => driver.unlink(ref, relation, id, ids));
    },
  };
}

/**
 * An order in Prisma's words, total by ending with the id; null is the smallest value.
 * @throws BadRequestError for what is no sortable column
 */
function toPrismaSort(entity: AnyEntity, sort: readonly SortKey[] | undefined, dialect: Dialect): Args[] {
  return totalOrder(sort).map(({ field, direction }) => {
    const column = Object.hasOwn(entity.columns, field) ? entity.columns[field] : undefined;
    if (column?.kind.sortable !== true) throw new BadRequestError(`${entity.name} cannot be sorted by "${field}"`);
    if (!column.optional || !dialect.ordersNulls) return { [field]: direction };
    return { [field]: { sort: direction, nulls: direction === "asc" ? "first" : "last" } };
  });
}
