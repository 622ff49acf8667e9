import { type ByteBudget, type Condition, type Find, type Row, soleId } from "../../../gate/index.ts";
import { byId } from "../fast/by-id.ts";
import { joinsOf } from "../fast/joins.ts";
import { sharedReads } from "../fast/share-reads.ts";
import type { Fast } from "../fast/switches.ts";
import type { EntityPlan } from "../session/entity-plan.ts";
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
import { updateQuery } from "../statement/write-queries.ts";

/** Reads records in a session. */
export function sqlFind(session: SqlSession, fast: Fast): (find: Find) => Promise<Row[]> {
  // A transaction has one connection, and rows that are told apart by id need it.
  const oneById = fast.sharedReads && !session.inTransaction ? sharedReads(session) : undefined;

  return async (find) => {
    const { where: condition, sort, limit, offset = 0, bytes, joins } = find;
    const open = session.connection();
    const plan = open.planOf(find.entity);
    const selection = selectionOf(open, plan, find);
    if (find.lock === true) return lockRow(session, plan, selection, condition);
    const isOne = limit === 1 && offset === 0 && joins === undefined && selection.names.includes("id");
    const single = isOne && oneById !== undefined ? byId(condition) : undefined;
    if (single !== undefined) return oneById?.(plan, selection, single) as Promise<Row[]>;
    const order = sort === undefined && soleId(condition) !== undefined ? undefined : orderOf(plan.entity, sort);
    if (limit === 0) return [];
    const along = joins && joinsOf(open, joins, find.textMoments);
    const inline = bytes && inlineOf(selection, limit, bytes);
    const statement = selectQuery(open, plan, selection, { condition, along, order, limit, offset, inline });
    return session.read({ model: plan.entity.name, operation: "find" }, async (client) => {
      let found: Rows = await client.queryRaw(statement);
      if (inline !== undefined) {
        const byIds = (ids: readonly string[]): Promise<Rows> =>
          client.queryRaw(selectByIdQuery(open, plan, selection, ids, condition, along));
        found = { rows: await rowsThatFit(found.rows, { selection, inline, bytes: bytes as ByteBudget, byIds }) };
      }
      return along === undefined ? rowsOf(selection, found) : along.rowsOf(selection, found);
    });
  };
}

/** Locks a record and reads it. SQLite has no words for that: an update that changes nothing takes the lock there. */
function lockRow(session: SqlSession, plan: EntityPlan, selection: Selection, condition: Condition): Promise<Row[]> {
  const open = session.connection();
  const { name } = plan.entity;
  const query =
    open.dialect.provider === "sqlite"
      ? updateQuery(open, plan.entity, condition, new Map([["id", soleId(condition)]]), selection)
      : selectQuery(open, plan, selection, { condition, lock: true });
  return session.write({ model: name, operation: "lock" }, async (client) =>
    rowsOf(selection, await client.queryRaw(query)),
  );
}

/** How many records match. */
export function countRows(session: SqlSession, plan: EntityPlan, condition: Condition): Promise<number> {
  const query = countQuery(session.connection(), plan, condition);
  return session.read({ model: plan.entity.name, operation: "count" }, async (client) =>
    Number((await client.queryRaw(query)).rows[0]?.[0]),
  );
}
