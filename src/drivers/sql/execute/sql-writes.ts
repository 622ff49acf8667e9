import type { SqlDriverAdapter, SqlQueryable } from "@prisma/driver-adapter-utils";
import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";
import { askedOfStored, type Condition, compare, type Row, soleId } from "../../../gate/index.ts";
import { codecOf } from "../condition/column-codec.ts";
import { namingDangling } from "../errors/to-keelson-error.ts";
import type { SharedWrites } from "../fast/shared-writes.ts";
import { adapterTransaction } from "../session/adapter.ts";
import { type Dialect, givenColumns } from "../session/connection.ts";
import { limitsOf } from "../session/session.ts";
import type { Rows } from "../statement/long-values.ts";
import { countQuery, type Selection, selectByIdQuery, selectionOf, selectQuery } from "../statement/select-query.ts";
import type { NamedQuery, SqlSession } from "../statement/sql-connection.ts";
import { deleteQuery, type Encoded, insertQuery, insertWhereQuery, updateQuery } from "../statement/write-queries.ts";
import { countRows } from "./sql-reads.ts";

/** Timeout in milliseconds for a statement that changes a row and the read of the row. */
const ROW_TRANSACTION_MS = 30_000;
/** Maximum number of rows and parameters in one INSERT, within the limits of any database. */
const INSERT_ROWS = 500;
const INSERT_PARAMETERS = 30_000;

/**
 * Stores a row and returns it; null when a condition does not hold.
 * @param condition a condition on the database without the row @default no condition
 */
export function insertRow(
  session: SqlSession,
  shared: SharedWrites | undefined,
  entity: AnyEntity,
  data: Row,
  condition: Condition | undefined,
): Promise<Row | null> {
  const open = session.connection();
  const all = selectionOf(open, entity);
  const row = encodeNewRow(entity, data, open.dialect);
  const returning = open.dialect.returnsRows ? all : undefined;
  if (condition !== undefined) {
    const query = insertWhereQuery(open, entity, row, askedOfStored(condition, data), returning);
    return writeRow(session, entity, all, { operation: "insert", query, data, id: data.id as string | undefined });
  }
  const together = shared?.insert(entity, row, all);
  if (together !== undefined) return naming(session, entity, [data], together);
  const query = insertQuery(open, entity, [row], returning);
  return writeRow(session, entity, all, { operation: "insert", query, data, id: data.id as string | undefined });
}

/** Updates the matching row and returns it, with one UPDATE that contains the whole condition. */
export function updateRow(
  session: SqlSession,
  shared: SharedWrites | undefined,
  entity: AnyEntity,
  condition: Condition,
  data: Row,
): Promise<Row | null> {
  const open = session.connection();
  const all = selectionOf(open, entity);
  const given = encodeRow(entity, data, open.dialect);
  const id = soleId(condition) as string;
  if (given.size === 0) {
    const query = selectQuery(open, entity, all, { condition });
    return session.write({ model: entity.name, operation: "update" }, async (client) =>
      firstOf(all, await client.queryRaw(query)),
    );
  }
  const together = shared?.update(entity, id, condition, given, all);
  if (together !== undefined) return naming(session, entity, [data], together);
  const query = updateQuery(open, entity, condition, given, open.dialect.returnsRows ? all : undefined);
  return writeRow(session, entity, all, { operation: "update", query, data, id });
}

/** A statement that writes one row. */
interface RowWrite {
  readonly operation: "insert" | "update";
  readonly query: NamedQuery;
  readonly data: Row;
  /** Undefined for a new row whose id the database generates. */
  readonly id: string | undefined;
}

/** The id that MySQL generated for the last row of this connection. */
async function lastId(client: SqlQueryable): Promise<string> {
  const { rows } = await client.queryRaw({ sql: "SELECT LAST_INSERT_ID()", args: [], argTypes: [] });
  return String(rows[0]?.[0]);
}

/**
 * Runs a statement that writes one row, and returns the row; null when it wrote nothing. If statements do not return
 * rows, the row stays locked until it is read, so that the result is the row as written.
 */
function writeRow(
  session: SqlSession,
  entity: AnyEntity,
  all: Selection,
  { operation, query, data, id }: RowWrite,
): Promise<Row | null> {
  const open = session.connection();
  return naming(session, entity, [data], () =>
    session.write({ model: entity.name, operation }, async (client) => {
      if (open.dialect.returnsRows) return firstOf(all, await client.queryRaw(query));
      const write = async (inner: SqlQueryable): Promise<Row | null> =>
        (await inner.executeRaw(query)) === 0
          ? null
          : firstOf(all, await inner.queryRaw(selectByIdQuery(open, entity, all, [id ?? (await lastId(inner))])));
      if (session.inTransaction) return write(client);
      return adapterTransaction(client as SqlDriverAdapter, write, limitsOf(open, ROW_TRANSACTION_MS));
    }),
  );
}

function firstOf(selection: Selection, { rows: [values] }: Rows): Row | null {
  return values === undefined ? null : selection.decode(values, 0);
}

/** Encodes rows and splits them into portions with the same columns that fit into one statement. */
export function portionsOf(session: SqlSession, entity: AnyEntity, rows: readonly Row[]): readonly Encoded[][] {
  const { dialect } = session.connection();
  const alike = new Map<string, Encoded[]>();
  for (const row of rows) {
    const encoded = encodeNewRow(entity, row, dialect);
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

/** Stores rows, portion by portion. */
export async function insertRows(
  session: SqlSession,
  entity: AnyEntity,
  portions: readonly (readonly Encoded[])[],
): Promise<number> {
  let count = 0;
  for (const rows of portions) {
    const query = insertQuery(session.connection(), entity, rows);
    count += await naming(session, entity, rows, () =>
      session.write({ model: entity.name, operation: "insert" }, (client) => client.executeRaw(query)),
    );
  }
  return count;
}

/** Updates the matching rows; returns their number. */
export function updateRows(session: SqlSession, entity: AnyEntity, condition: Condition, data: Row): Promise<number> {
  const open = session.connection();
  const given = encodeRow(entity, data, open.dialect);
  const statement = { model: entity.name, operation: "update" };
  if (given.size === 0) {
    const query = countQuery(open, entity, { where: condition });
    return session.write(statement, async (client) => Number((await client.queryRaw(query)).rows[0]?.[0]));
  }
  const query = updateQuery(open, entity, condition, given);
  return naming(session, entity, [data], () => session.write(statement, (client) => client.executeRaw(query)));
}

/** Deletes the matching rows; returns their number. */
export function deleteRows(session: SqlSession, entity: AnyEntity, condition: Condition): Promise<number> {
  const query = deleteQuery(session.connection(), entity, condition);
  return session.write({ model: entity.name, operation: "delete" }, (client) => client.executeRaw(query));
}

function naming<T>(
  session: SqlSession,
  entity: AnyEntity,
  rows: readonly (Row | Encoded)[],
  work: () => Promise<T>,
): Promise<T> {
  const open = session.connection();
  const count = (target: AnyEntity, ids: readonly unknown[]): Promise<number> =>
    countRows(session, open.entityOf(target), { where: compare(target.columns.id as ColumnDefinition, "in", ids) });
  const isAborted = session.inTransaction && open.dialect.provider === "postgresql";
  return namingDangling({ model: open.model, entity, rows, isAborted, count }, work);
}

/** Encodes submitted values for the database; the results are copies. @throws as `givenColumns` */
function encodeRow(entity: AnyEntity, data: Row, dialect: Dialect): Map<string, unknown> {
  const encoded = new Map<string, unknown>();
  for (const column of givenColumns(entity, data, dialect)) {
    if (column.parts !== undefined) continue;
    const value = data[column.name];
    encoded.set(column.name, value === null ? null : codecOf(dialect.provider, column).encode(value));
  }
  return encoded;
}

/** Encodes a new record. Missing creation and update times are set here, as databases write them differently. */
function encodeNewRow(entity: AnyEntity, data: Row, dialect: Dialect): Encoded {
  const encoded = encodeRow(entity, data, dialect);
  for (const [name, column] of Object.entries(entity.columns))
    if ((column.role === "createdAt" || column.role === "updatedAt") && !encoded.has(name))
      encoded.set(name, codecOf(dialect.provider, column).encode(new Date()));
  return encoded;
}
