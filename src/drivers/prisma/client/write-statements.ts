import { type Condition, looksAt, type Row, soleId } from "../../../gate/index.ts";
import { namingDangling, type Written } from "../../sql/index.ts";
import type { ClientSession } from "./words/client-connection.ts";
import type { ClientPlan } from "./words/client-plan.ts";
import { type Args, type Client, modelApi, type StatementClient } from "./words/client-shape.ts";
import { withNextVersion } from "./words/next-version.ts";
import { toPrismaData } from "./words/to-prisma-data.ts";
import { prismaWhere } from "./words/where-for.ts";

/** Milliseconds for one UPDATE and the read of its row, and to wait for a connection. */
const ROW_TRANSACTION = { timeout: 30_000, maxWait: 10_000 };
/** Rows of one INSERT; few enough for the parameters of any statement. */
const INSERT_ROWS = 500;

export function insertRow(session: ClientSession, plan: ClientPlan, data: Row): Promise<Row> {
  const given = toPrismaData(plan, data, session.connection());
  const statement = { model: plan.entity.name, operation: "insert" };
  return namingDangling(toWritten(session, plan, [given]), () =>
    session.write(statement, (client) => modelApi(client, plan.delegate).create({ data: given, select: plan.columns })),
  );
}

/** Prisma would send several INSERTs at once; one after the other is what a connection takes. */
export async function insertRows(session: ClientSession, plan: ClientPlan, given: readonly Row[]): Promise<number> {
  const statement = { model: plan.entity.name, operation: "insert" };
  let count = 0;
  for (let start = 0; start < given.length; start += INSERT_ROWS) {
    const data = given.slice(start, start + INSERT_ROWS);
    count += await namingDangling(toWritten(session, plan, data), async () => {
      const inserted = await session.write(statement, (client) => modelApi(client, plan.delegate).createMany({ data }));
      return inserted.count;
    });
  }
  return count;
}

/** Whether rows need more than one statement. */
export function needsSeveralInserts(rows: readonly Row[]): boolean {
  return rows.length > INSERT_ROWS;
}

/** Changes the one row that matches: one UPDATE with the whole condition. */
export function updateRow(
  session: ClientSession,
  plan: ClientPlan,
  condition: Condition,
  data: Row,
): Promise<Row | null> {
  const open = session.connection();
  const given = withNextVersion(plan, toPrismaData(plan, data, open));
  const statement = { model: plan.entity.name, operation: "update" };
  return namingDangling(toWritten(session, plan, [given]), () =>
    session.write(statement, async (client) => {
      const where = await prismaWhere(open, client, plan.entity, condition);
      return changeOne(session, client, plan, { id: soleId(condition), where, data: given });
    }),
  );
}

/**
 * Locks a record and reads it. Prisma has no words for that: an update that changes nothing takes the lock. What is asked of
 * related records is asked afterwards, because a statement that had to wait sees them as they were before.
 */
export function lockRow(session: ClientSession, plan: ClientPlan, condition: Condition): Promise<Row[]> {
  const open = session.connection();
  const id = soleId(condition);
  return session.write({ model: plan.entity.name, operation: "lock" }, async (client) => {
    const where = await prismaWhere(open, client, plan.entity, condition);
    const isApart = looksAt(condition);
    const row = await changeOne(session, client, plan, { id, where: isApart ? { id } : where, data: { id } });
    const found = row !== null && isApart ? await changeOne(session, client, plan, { id, where, data: {} }) : row;
    return found === null ? [] : [found];
  });
}

async function changeOne(
  session: ClientSession,
  client: StatementClient,
  { delegate, columns }: ClientPlan,
  { id, where, data }: { readonly id: string | undefined; readonly where: Args; readonly data: Row },
): Promise<Row | null> {
  const api = modelApi(client, delegate);
  if (Object.keys(data).length === 0) return api.findFirst({ where, select: columns });
  // Half the work for Prisma of its `update`, and no exception when nothing matches.
  if (session.connection().dialect.returnsRows)
    return (await api.updateManyAndReturn({ where, data, select: columns }))[0] ?? null;
  // Prisma's `update` would look for the row first and then change it whatever has become of it.
  const change = async (inner: StatementClient): Promise<Row | null> => {
    const own = modelApi(inner, delegate);
    const { count } = await own.updateMany({ where, data });
    return count === 0 ? null : own.findFirst({ where: { id }, select: columns });
  };
  // The row stays locked until it is read, so that it is what this statement wrote.
  return session.inTransaction ? change(client) : (client as Client).$transaction(change, ROW_TRANSACTION);
}

export async function updateRows(
  session: ClientSession,
  plan: ClientPlan,
  condition: Condition,
  data: Row,
): Promise<number> {
  const open = session.connection();
  const given = withNextVersion(plan, toPrismaData(plan, data, open));
  const statement = { model: plan.entity.name, operation: "update" };
  return namingDangling(toWritten(session, plan, [given]), () =>
    session.write(statement, async (client) => {
      const where = await prismaWhere(open, client, plan.entity, condition);
      const api = modelApi(client, plan.delegate);
      if (Object.keys(given).length === 0) return api.count({ where });
      return (await api.updateMany({ where, data: given })).count;
    }),
  );
}

/** Deletes the rows that match: one DELETE with the whole condition, which has nothing to return. */
export function deleteRows(session: ClientSession, plan: ClientPlan, condition: Condition): Promise<number> {
  const open = session.connection();
  const statement = { model: plan.entity.name, operation: "delete" };
  return session.write(statement, async (client) => {
    const where = await prismaWhere(open, client, plan.entity, condition);
    return (await modelApi(client, plan.delegate).deleteMany({ where })).count;
  });
}

function toWritten(session: ClientSession, { entity }: ClientPlan, rows: readonly Row[]): Written {
  const { model, planOf } = session.connection();
  return {
    model,
    entity,
    rows,
    count: (target, ids) =>
      session.read({ model: target.name, operation: "count" }, (client) =>
        modelApi(client, planOf(target).delegate).count({ where: { id: { in: ids } } }),
      ),
  };
}
