import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";
import { askedOfStored, type Condition, compare, type Row, soleId } from "../../../gate/index.ts";
import { namingDangling, type Written } from "../errors/naming-dangling.ts";
import type { SharedWrites } from "../fast/share-writes.ts";
import type { EntityPlan } from "../session/entity-plan.ts";
import { limitsOf } from "../session/run-transaction.ts";
import { countQuery, type Selection, selectByIdQuery, selectionOf, selectQuery } from "../statement/select-query.ts";
import type { SqlSession } from "../statement/sql-connection.ts";
import { deleteQuery, type Encoded, insertQuery, insertWhereQuery, updateQuery } from "../statement/write-queries.ts";
import { adapterTransaction } from "./adapter-transaction.ts";
import { encodeNewRow, encodeRow } from "./encode-row.ts";

/** Milliseconds for one statement that changes a row and the read of it. */
const ROW_TRANSACTION_MS = 30_000;
/** Rows of one INSERT, and its parameters; few enough for any database. */
const INSERT_ROWS = 500;
const INSERT_PARAMETERS = 30_000;

/** Stores a row and returns it. */
export function insertRow(
  session: SqlSession,
  shared: SharedWrites | undefined,
  plan: EntityPlan,
  data: Row,
): Promise<Row> {
  const open = session.connection();
  const { entity } = plan;
  const all = selectionOf(open, plan);
  const given = encodeNewRow(plan, data, open.dialect);
  const { returnsRows } = open.dialect;
  const together = shared?.insert(plan, given, all);
  if (together !== undefined) return namingDangling(toWritten(session, entity, [data]), together);
  const query = insertQuery(open, entity, [given], returnsRows ? all : undefined);
  return namingDangling(toWritten(session, entity, [data]), () =>
    session.write({ model: entity.name, operation: "insert" }, async (client) => {
      if (returnsRows) return firstOf(all, await client.queryRaw(query)) as Row;
      const row = await atOnce(session, client, async (inner) => {
        await inner.executeRaw(query);
        return readOne(session, inner, plan, data.id as string);
      });
      return row as Row;
    }),
  );
}

/** Stores a row where a condition holds without it, and returns it; null when it does not hold. */
export function insertRowWhere(
  session: SqlSession,
  plan: EntityPlan,
  data: Row,
  condition: Condition,
): Promise<Row | null> {
  const open = session.connection();
  const { entity } = plan;
  const all = selectionOf(open, plan);
  const { returnsRows } = open.dialect;
  const row = encodeNewRow(plan, data, open.dialect);
  const left = askedOfStored(condition, data);
  const query = insertWhereQuery(open, entity, row, left, returnsRows ? all : undefined);
  return namingDangling(toWritten(session, entity, [data]), () =>
    session.write({ model: entity.name, operation: "insert" }, async (client) => {
      if (returnsRows) return firstOf(all, await client.queryRaw(query));
      return atOnce(session, client, async (inner) =>
        (await inner.executeRaw(query)) === 0 ? null : readOne(session, inner, plan, data.id as string),
      );
    }),
  );
}

function firstOf(selection: Selection, { rows }: { readonly rows: readonly (readonly unknown[])[] }): Row | null {
  const values = rows[0];
  return values === undefined ? null : selection.decode(values, 0);
}

/** Where a statement returns no rows, the row stays locked until it is read, so that it is what the statement wrote. */
function atOnce<T>(session: SqlSession, client: SqlQueryable, work: (client: SqlQueryable) => Promise<T>): Promise<T> {
  if (session.inTransaction) return work(client);
  return adapterTransaction(client as SqlDriverAdapter, work, limitsOf(session.connection(), ROW_TRANSACTION_MS));
}

async function readOne(session: SqlSession, client: SqlQueryable, plan: EntityPlan, id: string): Promise<Row | null> {
  const open = session.connection();
  const all = selectionOf(open, plan);
  return firstOf(all, await client.queryRaw(selectByIdQuery(open, plan, all, [id])));
}

/** Rows as they travel, in portions with the same columns that are few enough for a statement. */
export function portionsOf(session: SqlSession, plan: EntityPlan, rows: readonly Row[]): readonly Encoded[][] {
  const { dialect } = session.connection();
  const alike = new Map<string, Encoded[]>();
  for (const row of rows) {
    const encoded = encodeNewRow(plan, row, dialect);
    const names = [...encoded.keys()].sort();
    const key = names.join();
    const group = alike.get(key) ?? [];
    alike.set(key, group);
    group.push(new Map(names.map((name) => [name, encoded.get(name)])));
  }
  return [...alike.values()].flatMap((group) => {
    const size = Math.min(INSERT_ROWS, Math.floor(INSERT_PARAMETERS / (group[0] as Encoded).size));
    return Array.from({ length: Math.ceil(group.length / size) }, (_, index) =>
      group.slice(index * size, (index + 1) * size),
    );
  });
}

/** Stores rows, one portion after the other. */
export async function insertRows(
  session: SqlSession,
  { entity }: EntityPlan,
  portions: readonly (readonly Encoded[])[],
): Promise<number> {
  const open = session.connection();
  let count = 0;
  for (const rows of portions) {
    const query = insertQuery(open, entity, rows);
    const written = toWritten(
      session,
      entity,
      rows.map((row) => Object.fromEntries(row)),
    );
    count += await namingDangling(written, () =>
      session.write({ model: entity.name, operation: "insert" }, (client) => client.executeRaw(query)),
    );
  }
  return count;
}

/** Changes the one row that matches: one UPDATE with the whole condition. */
export function updateRow(
  session: SqlSession,
  shared: SharedWrites | undefined,
  plan: EntityPlan,
  condition: Condition,
  data: Row,
): Promise<Row | null> {
  const open = session.connection();
  const { entity } = plan;
  const all = selectionOf(open, plan);
  const given = encodeRow(plan, data, open.dialect);
  const id = soleId(condition) as string;
  const statement = { model: entity.name, operation: "update" };
  if (given.size === 0) {
    const query = selectQuery(open, plan, all, { condition });
    return session.write(statement, async (client) => firstOf(all, await client.queryRaw(query)));
  }
  const { returnsRows } = open.dialect;
  const together = shared?.update(plan, { id, condition }, given, all);
  if (together !== undefined) return namingDangling(toWritten(session, entity, [data]), together);
  const query = updateQuery(open, entity, condition, given, returnsRows ? all : undefined);
  return namingDangling(toWritten(session, entity, [data]), () =>
    session.write(statement, async (client) => {
      if (returnsRows) return firstOf(all, await client.queryRaw(query));
      return atOnce(session, client, async (inner) =>
        (await inner.executeRaw(query)) === 0 ? null : readOne(session, inner, plan, id),
      );
    }),
  );
}

/** Changes the rows that match; returns how many. */
export function updateRows(session: SqlSession, plan: EntityPlan, condition: Condition, data: Row): Promise<number> {
  const open = session.connection();
  const { entity } = plan;
  const given = encodeRow(plan, data, open.dialect);
  const statement = { model: entity.name, operation: "update" };
  if (given.size === 0) {
    const query = countQuery(open, plan, condition);
    return session.write(statement, async (client) => Number((await client.queryRaw(query)).rows[0]?.[0]));
  }
  const query = updateQuery(open, entity, condition, given);
  return namingDangling(toWritten(session, entity, [data]), () =>
    session.write(statement, (client) => client.executeRaw(query)),
  );
}

/** Deletes the rows that match; returns how many. */
export function deleteRows(session: SqlSession, { entity }: EntityPlan, condition: Condition): Promise<number> {
  const query = deleteQuery(session.connection(), entity, condition);
  return session.write({ model: entity.name, operation: "delete" }, (client) => client.executeRaw(query));
}

function toWritten(session: SqlSession, entity: AnyEntity, rows: readonly Row[]): Written {
  const open = session.connection();
  return {
    model: open.model,
    entity,
    rows,
    count(target, ids) {
      const column = target.columns.id as ColumnDefinition;
      const query = countQuery(open, open.planOf(target), compare(column, "in", ids));
      return session.read({ model: target.name, operation: "count" }, async (client) =>
        Number((await client.queryRaw(query)).rows[0]?.[0]),
      );
    },
  };
}
