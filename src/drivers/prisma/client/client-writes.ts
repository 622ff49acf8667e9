import type { ColumnDefinition } from "../../../entity/index.ts";
import {
  type Condition,
  type Delete,
  type Find,
  type Insert,
  looksAt,
  type Row,
  soleId,
  type Update,
  type Written,
} from "../../../gate/index.ts";
import { countsVersion, givenColumns, listsIds, namingDangling } from "../../sql/index.ts";
import {
  type Args,
  type ClientConnection,
  type ClientPlan,
  type ClientSession,
  modelApi,
  type StatementClient,
} from "./client-connection.ts";
import { clientForm } from "./client-values.ts";
import { NOTHING, prismaWhere, saysAll } from "./to-prisma-where.ts";

/**
 * Maximum number of rows in one INSERT, which keeps the parameters within the limits of any database, and of pairs in
 * one call: Prisma makes a condition of each pair, and SQLite does not accept a thousand of them.
 */
export const MOST_AT_ONCE = 500;

/** Runs INSERTs one at a time; Prisma would send several concurrently, which a single connection does not support. */
export async function insertRows(session: ClientSession, { entity, rows, returning }: Insert): Promise<Written> {
  const open = session.connection();
  const plan = open.planOf(entity);
  const given = rows.map((row) => toPrismaData(plan, row, open));
  const statement = { model: entity.name, operation: "insert" };
  if (returning === true) {
    const create = { data: given[0], select: plan.columns };
    const row = await naming(session, plan, given, () =>
      session.write(statement, (client) => modelApi(client, plan).create(create)),
    );
    return { count: 1, rows: [row] };
  }
  let count = 0;
  for (let start = 0; start < given.length; start += MOST_AT_ONCE) {
    const data = given.slice(start, start + MOST_AT_ONCE);
    const inserted = await naming(session, plan, data, () =>
      session.write(statement, (client) => modelApi(client, plan).createMany({ data })),
    );
    count += inserted.count;
  }
  return { count, rows: [] };
}

/** Updates the matching rows. */
export async function updateRows(
  session: ClientSession,
  { entity, where: condition, data, returning }: Update,
): Promise<Written> {
  const open = session.connection();
  const plan = open.planOf(entity);
  const given = withNextVersion(plan, toPrismaData(plan, data, open));
  return naming(session, plan, [given], () =>
    session.write({ model: entity.name, operation: "update" }, async (client) => {
      if (takesTurns(open, condition)) await takeTurn(client, plan);
      const where = await writableWhere(open, client, plan, condition);
      if (returning === true) {
        const row = await changeOne(open, client, plan, { id: soleId(condition), where, data: given });
        return row === null ? { count: 0, rows: [] } : { count: 1, rows: [row] };
      }
      const api = modelApi(client, plan);
      if (Object.keys(given).length === 0) return { count: await api.count({ where }), rows: [] };
      return { count: (await api.updateMany({ where, data: given })).count, rows: [] };
    }),
  );
}

/** Deletes the matching rows; it returns no rows. */
export async function deleteRows(session: ClientSession, { entity, where: condition }: Delete): Promise<Written> {
  const open = session.connection();
  const plan = open.planOf(entity);
  return session.write({ model: entity.name, operation: "delete" }, async (client) => {
    if (takesTurns(open, condition)) await takeTurn(client, plan);
    const where = await writableWhere(open, client, plan, condition);
    const { count } = await modelApi(client, plan).deleteMany({ where });
    return { count, rows: [] };
  });
}

/**
 * Whether one UPDATE or DELETE can contain a condition. Prisma does not express all of them, and MySQL cannot change a
 * table by a condition that reads the same table.
 */
function isWritable(open: ClientConnection, { entity }: ClientPlan, condition: Condition): boolean {
  return saysAll(open, condition) && (open.dialect.returnsRows || !looksAt(condition, entity));
}

/** Whether an update or a deletion needs more than one call, and so a transaction. */
export function isWrittenInCalls(open: ClientConnection, write: Update | Delete): boolean {
  const isReadAfterwards = write.kind === "update" && write.returning === true && !open.dialect.returnsRows;
  return isReadAfterwards || takesTurns(open, write.where) || !isWritable(open, open.planOf(write.entity), write.where);
}

/** Whether a write takes a turn, because it locks the records of a list in an order that the caller cannot choose. */
function takesTurns({ dialect }: ClientConnection, condition: Condition): boolean {
  return dialect.provider === "postgresql" && listsIds(condition) && soleId(condition) === undefined;
}

/**
 * Waits until no other transaction writes or locks a list of records of an entity on PostgreSQL. Prisma's statements lock
 * them in any order, so that two such transactions could deadlock.
 */
function takeTurn(client: StatementClient, { entity }: ClientPlan): Promise<unknown> {
  return client.$queryRawUnsafe("SELECT 1 AS taken FROM pg_advisory_xact_lock(hashtext($1))", `keelson ${entity.name}`);
}

/**
 * The condition of a write in Prisma's form. If a statement cannot contain it, the records are found, locked and
 * checked again, because they may have changed in between, and are written by their ids.
 */
async function writableWhere(
  open: ClientConnection,
  client: StatementClient,
  plan: ClientPlan,
  condition: Condition,
): Promise<Args> {
  const where = await prismaWhere(open, client, plan.entity, condition);
  if (isWritable(open, plan, condition)) return where;
  const own = modelApi(client, plan);
  const found = (await own.findMany({ where, select: { id: true } })).map(({ id }) => id);
  if (found.length === 0) return NOTHING;
  await lockRecords(client, plan, found);
  const current = await prismaWhere(open, client, plan.entity, condition);
  const met = await own.findMany({ where: { AND: [current, { id: { in: found } }] }, select: { id: true } });
  return { id: { in: met.map(({ id }) => id) } };
}

/**
 * Locks records, in the order of their ids. Prisma has no locks, and SQL would need the names of the client's tables: an
 * update without effect takes the lock.
 */
async function lockRecords(client: StatementClient, plan: ClientPlan, ids: readonly unknown[]): Promise<void> {
  const { kind } = plan.entity.columns.id as ColumnDefinition;
  const own = modelApi(client, plan);
  for (const id of [...ids].sort(kind.compare)) await own.updateMany({ where: { id }, data: { id } });
}

/** A change to one record. */
interface RowChange {
  readonly id: string | undefined;
  readonly where: Args;
  readonly data: Row;
}

async function changeOne(
  { dialect }: ClientConnection,
  client: StatementClient,
  plan: ClientPlan,
  { id, where, data }: RowChange,
): Promise<Row | null> {
  const api = modelApi(client, plan);
  const select = plan.columns;
  if (Object.keys(data).length === 0) return api.findFirst({ where, select });
  // Half as much work for Prisma as `update`, and no exception when no record matches.
  if (dialect.returnsRows) return (await api.updateManyAndReturn({ where, data, select }))[0] ?? null;
  // Prisma's `update` would find the row first and then change it, even if it has changed in between.
  const { count } = await api.updateMany({ where, data });
  return count === 0 ? null : api.findFirst({ where: { id }, select });
}

/**
 * Locks records and reads them, in the order of their ids. Their conditions are checked after the lock, because a
 * statement that waited sees related records as they were before the wait.
 */
export function lockRows(session: ClientSession, { entity, where: condition, limit: take }: Find): Promise<Row[]> {
  const open = session.connection();
  const plan = open.planOf(entity);
  return session.write({ model: entity.name, operation: "lock" }, async (client) => {
    const sole = soleId(condition);
    if (sole === undefined && open.dialect.provider === "postgresql") await takeTurn(client, plan);
    const api = modelApi(client, plan);
    const find = async (columns: Args, more: Args = {}): Promise<Row[]> => {
      const where = { AND: [await prismaWhere(open, client, entity, condition), more] };
      return api.findMany({ where, select: columns, orderBy: { id: "asc" }, take });
    };
    const ids = sole === undefined ? (await find({ id: true })).map(({ id }) => id) : [sole];
    await lockRecords(client, plan, ids);
    return ids.length === 0 ? [] : find(plan.columns, { id: { in: ids } });
  });
}

function naming<T>(
  session: ClientSession,
  { entity }: ClientPlan,
  rows: readonly Row[],
  work: () => Promise<T>,
): Promise<T> {
  const { model, planOf, dialect } = session.connection();
  const written = {
    model,
    entity,
    rows,
    isAborted: session.inTransaction && dialect.provider === "postgresql",
    count: (target: ClientPlan["entity"], ids: readonly unknown[]) =>
      session.read({ model: target.name, operation: "count" }, (client) =>
        modelApi(client, planOf(target)).count({ where: { id: { in: ids } } }),
      ),
  };
  return namingDangling(written, work);
}

/**
 * Adds the increment of the version to changes. The database increments it in the same statement, so that no two writes
 * get the same version. A version in the changes is ignored.
 */
function withNextVersion({ entity }: ClientPlan, changes: Row): Row {
  return countsVersion(entity, Object.keys(changes)) ? { ...changes, version: { increment: 1 } } : changes;
}

/**
 * Converts submitted values for Prisma. Returns a copy, so that the caller may change the original. @throws as
 * `givenColumns`
 */
function toPrismaData({ entity }: ClientPlan, data: Row, { dbNull, dialect }: ClientConnection): Row {
  const given: Row = {};
  for (const column of givenColumns(entity, data, dialect)) {
    const { name, kind } = column;
    const value = data[name];
    const { scalar } = kind.column;
    const isJson = scalar === "Json" || (scalar === "List" && dialect.provider !== "postgresql");
    if (value === null) given[name] = isJson ? dbNull : null;
    else given[name] = scalar === "Json" ? toPrismaJson(value) : clientForm(dialect.provider, column).to(value);
  }
  return given;
}

/** Strings that Prisma interprets as its kinds of null. */
const NULL_WORDS: ReadonlySet<unknown> = new Set(["DbNull", "JsonNull", "AnyNull"]);

/**
 * Copies a JSON value. A string that Prisma would interpret as null is passed in its wire format, where it stays a
 * string.
 */
function toPrismaJson(value: unknown): unknown {
  if (!NULL_WORDS.has(value)) return structuredClone(value);
  return { toJSON: () => ({ $type: "Json", value: JSON.stringify(value) }) };
}
