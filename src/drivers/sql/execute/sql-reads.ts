import { type ByteBudget, type Condition, type Find, type JoinedFind, type Row, soleId } from "../../../gate/index.ts";
import { conditionShape } from "../condition/condition-shape.ts";
import { byId } from "../fast/by-id.ts";
import { readTogether } from "../fast/read-together.ts";
import type { EntityPlan } from "../session/entity-plan.ts";
import { inlineOf, type Rows, rowsThatFit } from "../statement/long-values.ts";
import {
  countQuery,
  type Joined,
  joinedRowsOf,
  orderOf,
  rowsOf,
  type Selection,
  selectByIdQuery,
  selectionOf,
  selectQuery,
} from "../statement/select-query.ts";
import type { SqlConnection, SqlSession } from "../statement/sql-connection.ts";
import { updateQuery } from "../statement/write-queries.ts";

/** Reads that can be one statement: the same columns under the same further conditions. */
interface Group {
  readonly plan: EntityPlan;
  readonly selection: Selection;
  /** Conditions besides the id. */
  readonly rest: Condition;
}

function joinedOf(open: SqlConnection, { relation, where }: JoinedFind, textMoments: boolean | undefined): Joined {
  const selection = selectionOf(open, open.planOf(relation.target), { textMoments });
  return { relation, selection, condition: where };
}

/** Reads records in a session. Reads by id join others who ask in the same moment. */
export function sqlFind(session: SqlSession): (find: Find) => Promise<Row[]> {
  const readById = readTogether(async ({ plan, selection, rest }: Group, ids) => {
    const query = selectByIdQuery(session.connection(), plan, selection, [...new Set(ids)], rest);
    return session.read({ model: plan.entity.name, operation: "find" }, async (client) =>
      rowsOf(selection, await client.queryRaw(query)),
    );
  });

  async function oneById({ plan, selection, rest }: Group, id: string): Promise<Row[]> {
    const values: unknown[] = [];
    const shape = conditionShape(rest, session.connection().builder.provider, values);
    const key = `${plan.entity.name} ${selection.asText} ${selection.key} ${shape} ${values.length === 0 ? "" : JSON.stringify(values)}`;
    const row = await readById(key, { plan, selection, rest }, id);
    return row === null ? [] : [row];
  }

  return async (find) => {
    const { where: condition, sort, limit, offset = 0, bytes, joins } = find;
    const open = session.connection();
    const plan = open.planOf(find.entity);
    const selection = selectionOf(open, plan, find);
    if (find.lock === true) return lockRow(session, plan, selection, condition);
    // A transaction has one connection, and rows that are told apart by id need it.
    const isOne = limit === 1 && offset === 0 && joins === undefined && selection.names.includes("id");
    const single = isOne && !session.inTransaction ? byId(condition) : undefined;
    if (single !== undefined) return oneById({ plan, selection, rest: single.rest }, single.id);
    const order = sort === undefined && soleId(condition) !== undefined ? undefined : orderOf(plan.entity, sort);
    if (limit === 0) return [];
    const joined = joins?.map((join) => joinedOf(open, join, find.textMoments));
    const inline = bytes && inlineOf(selection, limit, bytes);
    const statement = selectQuery(open, plan, selection, { condition, joined, order, limit, offset, inline });
    return session.read({ model: plan.entity.name, operation: "find" }, async (client) => {
      let found: Rows = await client.queryRaw(statement);
      if (inline !== undefined) {
        const byIds = (ids: readonly string[]): Promise<Rows> =>
          client.queryRaw(selectByIdQuery(open, plan, selection, ids, condition, joined));
        found = { rows: await rowsThatFit(found.rows, { selection, inline, bytes: bytes as ByteBudget, byIds }) };
      }
      return joined === undefined ? rowsOf(selection, found) : joinedRowsOf(selection, joined, found);
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
