import {
  type Condition,
  type Delete,
  type Insert,
  looksAt,
  type Row,
  soleId,
  type Update,
  type Written,
} from "../../../gate/index.ts";
import { countsVersion, givenColumns, namingDangling } from "../../sql/index.ts";
import {
  type Args,
  type Client,
  type ClientConnection,
  type ClientPlan,
  type ClientSession,
  modelApi,
  type StatementClient,
} from "./client-connection.ts";
import { clientForm } from "./client-values.ts";
import { prismaWhere } from "./to-prisma-where.ts";

/** Timeouts in milliseconds for one UPDATE with the read of its row, and for waiting for a connection. */
const ROW_TRANSACTION = { timeout: 30_000, maxWait: 10_000 };
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

/** Updates the matching rows with one UPDATE that contains the whole condition. */
export async function updateRows(
  session: ClientSession,
  { entity, where: condition, data, returning }: Update,
): Promise<Written> {
  const open = session.connection();
  const plan = open.planOf(entity);
  const given = withNextVersion(plan, toPrismaData(plan, data, open));
  return naming(session, plan, [given], () =>
    session.write({ model: entity.name, operation: "update" }, (outer) =>
      withWhere(session, outer, plan, condition, async (client, where, inTransaction) => {
        if (returning === true) {
          const id = soleId(condition);
          const row = await changeOne(session, client, plan, { id, where, data: given, inTransaction });
          return row === null ? { count: 0, rows: [] } : { count: 1, rows: [row] };
        }
        const api = modelApi(client, plan);
        if (Object.keys(given).length === 0) return { count: await api.count({ where }), rows: [] };
        return { count: (await api.updateMany({ where, data: given })).count, rows: [] };
      }),
    ),
  );
}

/** Deletes the matching rows with one DELETE that contains the whole condition; it returns no rows. */
export async function deleteRows(session: ClientSession, { entity, where: condition }: Delete): Promise<Written> {
  const plan = session.connection().planOf(entity);
  return session.write({ model: entity.name, operation: "delete" }, (outer) =>
    withWhere(session, outer, plan, condition, async (client, where) => {
      const { count } = await modelApi(client, plan).deleteMany({ where });
      return { count, rows: [] };
    }),
  );
}

/**
 * Runs a write with its condition in Prisma's form. MySQL cannot change a table by a condition that reads the same
 * table: there the records are locked, checked and written by their ids, in a transaction.
 */
async function withWhere<T>(
  session: ClientSession,
  client: StatementClient,
  plan: ClientPlan,
  condition: Condition,
  write: (client: StatementClient, where: Args, inTransaction: boolean) => Promise<T>,
): Promise<T> {
  const open = session.connection();
  const { inTransaction } = session;
  const where = await prismaWhere(open, client, plan.entity, condition);
  if (open.dialect.returnsRows || !looksAt(condition, plan.entity)) return write(client, where, inTransaction);
  const locked = async (inner: StatementClient): Promise<T> => {
    const own = modelApi(inner, plan);
    const ids: unknown[] = [];
    for (const { id } of await own.findMany({ where, select: { id: true }, orderBy: { id: "asc" } })) {
      await own.updateMany({ where: { id }, data: { id } });
      if ((await own.count({ where: { AND: [{ id }, where] } })) > 0) ids.push(id);
    }
    return write(inner, { id: { in: ids } }, true);
  };
  return inTransaction ? locked(client) : (client as Client).$transaction(locked, ROW_TRANSACTION);
}

/** A change to one record, or one without effect that locks it. */
interface RowChange {
  readonly id: string | undefined;
  readonly where: Args;
  readonly data: Row;
  readonly inTransaction: boolean;
}

async function changeOne(
  session: ClientSession,
  client: StatementClient,
  plan: ClientPlan,
  { id, where, data, inTransaction }: RowChange,
): Promise<Row | null> {
  const api = modelApi(client, plan);
  const select = plan.columns;
  if (Object.keys(data).length === 0) return api.findFirst({ where, select });
  // Half as much work for Prisma as `update`, and no exception when no record matches.
  if (session.connection().dialect.returnsRows)
    return (await api.updateManyAndReturn({ where, data, select }))[0] ?? null;
  // Prisma's `update` would find the row first and then change it, even if it has changed in between.
  const change = async (inner: StatementClient): Promise<Row | null> => {
    const own = modelApi(inner, plan);
    const { count } = await own.updateMany({ where, data });
    return count === 0 ? null : own.findFirst({ where: { id }, select });
  };
  // The row stays locked until it is read, so that the result is the row as written.
  return inTransaction ? change(client) : (client as Client).$transaction(change, ROW_TRANSACTION);
}

/**
 * Locks a record and reads it. Prisma has no locks: an update without effect takes the lock. Conditions on related
 * records are checked afterwards, because a statement that waited sees these as they were before the wait.
 */
export function lockRow(session: ClientSession, plan: ClientPlan, condition: Condition): Promise<Row[]> {
  const open = session.connection();
  const id = soleId(condition);
  return session.write({ model: plan.entity.name, operation: "lock" }, async (client) => {
    const where = await prismaWhere(open, client, plan.entity, condition);
    const isApart = looksAt(condition);
    const { inTransaction } = session;
    const row = await changeOne(session, client, plan, {
      id,
      where: isApart ? { id } : where,
      data: { id },
      inTransaction,
    });
    const found =
      row !== null && isApart ? await modelApi(client, plan).findFirst({ where, select: plan.columns }) : row;
    return found === null ? [] : [found];
  });
}

function naming<T>(
  session: ClientSession,
  { entity }: ClientPlan,
  rows: readonly Row[],
  work: () => Promise<T>,
): Promise<T> {
  const { model, planOf } = session.connection();
  const written = {
    model,
    entity,
    rows,
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
