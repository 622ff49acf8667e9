import { type AnyEntity, type ColumnDefinition, idParts } from "../../../entity/index.ts";
import {
  type ByteBudget,
  type Condition,
  type Count,
  compare,
  type Find,
  looksAt,
  type Row,
  soleId,
} from "../../../gate/index.ts";
import { codecOf } from "../condition/column-codec.ts";
import { joinsOf } from "../fast/joins.ts";
import { byId, sharedReads } from "../fast/shared-reads.ts";
import type { Fast } from "../fast/switches.ts";
import { inlineOf, type Rows, rowsThatFit } from "../statement/long-values.ts";
import {
  countQuery,
  orderOf,
  rowsOf,
  type Selection,
  selectByIdQuery,
  selectionOf,
  selectQuery,
} from "../statement/select-query.ts";
import type { SqlSession } from "../statement/sql-connection.ts";
import { type Encoded, updateQuery } from "../statement/write-queries.ts";
import { isComposite } from "../tables/names.ts";

/** Reads records in a session. */
export function sqlFind(session: SqlSession, fast: Fast): (find: Find) => Promise<Row[]> {
  // A transaction has one connection, and rows that are identified by id need it.
  const oneById = fast.sharedReads && !session.inTransaction ? sharedReads(session) : undefined;

  return async (find) => {
    const { where: condition, sort, limit, offset = 0, bytes, counted, joins } = find;
    const open = session.connection();
    const entity = open.entityOf(find.entity);
    const selection = selectionOf(open, entity, find);
    if (find.lock) return lockRow(session, entity, selection, condition, find.lock);
    const isOne = limit === 1 && offset === 0 && joins === undefined && selection.names.includes("id");
    const single = isOne && oneById !== undefined ? byId(condition) : undefined;
    if (single !== undefined) return oneById?.(entity, selection, single) as Promise<Row[]>;
    const order = sort === undefined && soleId(condition) !== undefined ? undefined : orderOf(entity, sort, find.rank);
    if (limit === 0) return [];
    const along = joins && joinsOf(open, joins, find.textMoments);
    const inline = bytes && inlineOf(selection, limit, bytes, counted);
    const perParent = isComposite(entity) ? undefined : find.perParent;
    const wanted = { condition, along, order, rank: find.rank, limit, offset, perParent, inline };
    const statement = selectQuery(open, entity, selection, wanted);
    return session.read({ model: entity.name, operation: "find" }, async (client) => {
      let found: Rows = await client.queryRaw(statement);
      if (inline !== undefined) {
        const byIds = (ids: readonly string[]): Promise<Rows> =>
          client.queryRaw(selectByIdQuery(open, entity, selection, ids, condition, along));
        found = { rows: await rowsThatFit(found.rows, { selection, inline, bytes: bytes as ByteBudget, byIds }) };
      }
      return along === undefined ? rowsOf(selection, found) : along.rowsOf(selection, found);
    });
  };
}

/**
 * Locks a record and reads it. A statement that waited for the lock sees related records as they were before, so
 * conditions on these are checked once the record is locked. SQLite has one writer and no lock statement: an update
 * that changes nothing takes the lock.
 */
function lockRow(
  session: SqlSession,
  entity: AnyEntity,
  selection: Selection,
  condition: Condition,
  strength: true | "delete",
): Promise<Row[]> {
  const open = session.connection();
  const id = soleId(condition);
  const isSqlite = open.dialect.provider === "sqlite";
  const isApart = !isSqlite && looksAt(condition);
  const locked = isApart ? compare(entity.columns.id as ColumnDefinition, "eq", id as string) : condition;
  const lock = isSqlite
    ? updateQuery(open, entity, condition, unchanged(entity, id as string), selection)
    : selectQuery(open, entity, selection, { condition: locked, lock: strength });
  return session.write({ model: entity.name, operation: "lock" }, async (client) => {
    const rows = rowsOf(selection, await client.queryRaw(lock));
    if (!isApart || rows.length === 0) return rows;
    return rowsOf(selection, await client.queryRaw(selectQuery(open, entity, selection, { condition })));
  });
}

/** A change of a row with this id that changes nothing. */
function unchanged({ columns }: AnyEntity, id: string): Encoded {
  const own = columns.id as ColumnDefinition;
  const [column = own] = own.parts ?? [];
  const value = own.parts === undefined ? id : idParts(own.parts, id)?.[0];
  return new Map([[column.name, codecOf("sqlite", column).encode(value)]]);
}

/** How many records match. */
export function countRows(
  session: SqlSession,
  entity: AnyEntity,
  count: Omit<Count, "kind" | "entity">,
): Promise<number> {
  const query = countQuery(session.connection(), entity, count);
  return session.read({ model: entity.name, operation: "count" }, async (client) =>
    Number((await client.queryRaw(query)).rows[0]?.[0]),
  );
}
