import type { SqlQueryable } from "@prisma/driver-adapter-utils";
import type { AnyEntity } from "../../../entity/index.ts";
import { type Count, type Find, type Row, soleId } from "../../../gate/index.ts";
import { joinsOf } from "../fast/joins.ts";
import { byId, sharedReads } from "../fast/shared-reads.ts";
import type { Fast } from "../fast/switches.ts";
import { allFit, type Fitting, inlineOf, type Rows, rowsThatFit } from "../statement/long-values.ts";
import {
  countQuery,
  orderOf,
  type RowsWanted,
  rowsOf,
  type Selection,
  selectByIdQuery,
  selectionOf,
  selectQuery,
} from "../statement/select-query.ts";
import type { SqlConnection, SqlSession } from "../statement/sql-connection.ts";
import { isComposite } from "../tables/table-names.ts";
import { lockRow } from "./lock-row.ts";

/** Reads records in a session. */
export function sqlFind(session: SqlSession, fast: Fast): (find: Find) => Promise<Row[]> {
  // Not in a transaction, which has one connection and needs its rows read there.
  const oneById = fast.sharedReads && !session.inTransaction ? sharedReads(session) : undefined;

  return (find) => {
    const { where: condition, sort, limit, offset = 0, bytes, counted, joins } = find;
    const open = session.connection();
    const entity = open.entityOf(find.entity);
    const selection = selectionOf(open, entity, find);
    const sole = soleId(condition);
    if (find.lock && sole !== undefined) return lockRow(session, entity, selection, condition, find.lock);
    const isOne = limit === 1 && offset === 0 && joins === undefined && selection.names.includes("id");
    if (isOne && oneById !== undefined) {
      const single = byId(condition);
      if (single !== undefined) return oneById(entity, selection, single);
    }
    const order = sort === undefined && sole !== undefined ? undefined : orderOf(entity, sort, find.rank);
    if (limit === 0) return Promise.resolve([]);
    const along = joins && joinsOf(open, joins, find.textMoments);
    const inline = bytes && inlineOf(selection, limit, bytes, counted);
    const fitting = bytes && inline && { selection, inline, bytes };
    const perParent = isComposite(entity) ? undefined : find.perParent;
    const wanted = { condition, along, order, rank: find.rank, limit, offset, perParent, inline, lock: find.lock };
    const statement = selectQuery(open, entity, selection, wanted);
    return session.read({ model: entity.name, operation: "find" }, async (client) => {
      let found: Rows = await client.queryRaw(statement);
      if (fitting !== undefined && !allFit(found.rows, fitting))
        found = { rows: await whatFits(client, { open, entity, selection, wanted }, found, fitting) };
      return along === undefined ? rowsOf(selection, found) : along.rowsOf(selection, found);
    });
  };
}

/** A list that is being read. */
interface ListRead {
  readonly open: SqlConnection;
  readonly entity: AnyEntity;
  readonly selection: Selection;
  readonly wanted: RowsWanted;
}

/** Reads the rows of a list that fit, when not all of them do. */
async function whatFits(
  client: SqlQueryable,
  { open, entity, selection, wanted }: ListRead,
  found: Rows,
  given: Fitting,
): Promise<Rows["rows"]> {
  const inline = { ...given.inline, sized: true };
  const sized = given.inline.sized
    ? found
    : await client.queryRaw(selectQuery(open, entity, selection, { ...wanted, inline }));
  return rowsThatFit(sized.rows, { ...given, inline }, (ids) =>
    client.queryRaw(selectByIdQuery(open, entity, selection, ids, wanted.condition, wanted.along)),
  );
}

/** Counts the matching records. */
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
