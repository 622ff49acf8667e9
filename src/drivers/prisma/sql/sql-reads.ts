import {
  BadRequestError,
  type ByteBudget,
  type Condition,
  compileWhere,
  type FindManyQuery,
  type FindOptions,
  type RelatedRead,
  type Row,
  soleId,
} from "../../../kernel/index.ts";
import type { EntityPlan } from "../entity-plan.ts";
import { byId } from "../read-by-id.ts";
import { readTogether } from "../read-together.ts";
import { conditionShape } from "./condition-shape.ts";
import { inlineOf, type Rows, rowsThatFit } from "./long-values.ts";
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
} from "./select-rows.ts";
import type { SqlConnection, SqlSession } from "./sql-connection.ts";

/** Reads that can be one statement: the same columns under the same further conditions. */
interface Group {
  readonly plan: EntityPlan;
  readonly selection: Selection;
  /** Conditions besides the id. */
  readonly rest: Condition;
}

/** @throws BadRequestError for what is no belongsTo relation of the app's own */
function joinedOf(
  open: SqlConnection,
  { entity }: EntityPlan,
  join: RelatedRead,
  { textMoments }: FindOptions,
): Joined {
  const relation = open.model.relation(entity, join.relation);
  if (relation?.type !== "belongsTo" || relation.remote !== undefined)
    throw new BadRequestError(`${entity.name}.${join.relation} cannot be read along`);
  const { target } = relation;
  const condition = compileWhere(open.model, target, join.where);
  return { relation, selection: selectionOf(open, open.planOf(target), { textMoments }), condition };
}

/** The port's reads of records. */
export interface SqlReads {
  findOne(plan: EntityPlan, condition: Condition, options: FindOptions): Promise<Row | null>;
  findMany(plan: EntityPlan, condition: Condition, query: FindManyQuery): Promise<Row[]>;
  count(plan: EntityPlan, condition: Condition): Promise<number>;
}

/** Reads of a session. Those by id join others who ask in the same moment. */
export function sqlReads(session: SqlSession): SqlReads {
  const readById = readTogether(async ({ plan, selection, rest }: Group, ids) => {
    const query = selectByIdQuery(session.connection(), plan, selection, [...new Set(ids)], rest);
    return session.read({ model: plan.entity.name, operation: "findOne" }, async (client) =>
      rowsOf(selection, await client.queryRaw(query)),
    );
  });

  return {
    findOne(plan, condition, options) {
      const open = session.connection();
      const selection = selectionOf(open, plan, options);
      // A transaction has one connection, and rows that are told apart by id need it.
      const single = session.inTransaction || !selection.names.includes("id") ? undefined : byId(condition);
      if (single !== undefined) {
        const values: unknown[] = [];
        const shape = conditionShape(single.rest, open.builder.provider, values);
        const key = `${plan.entity.name} ${selection.asText} ${selection.key} ${shape} ${values.length === 0 ? "" : JSON.stringify(values)}`;
        return readById(key, { plan, selection, rest: single.rest }, single.id);
      }
      const order = soleId(condition) === undefined ? orderOf(plan.entity, undefined) : undefined;
      const query = selectQuery(open, plan, selection, { condition, order, limit: 1 });
      return session.read({ model: plan.entity.name, operation: "findOne" }, async (client) => {
        const values = (await client.queryRaw(query)).rows[0];
        return values === undefined ? null : selection.decode(values, 0);
      });
    },
    async findMany(plan, condition, query) {
      const { sort, limit, offset, bytes } = query;
      const open = session.connection();
      const selection = selectionOf(open, plan, query);
      const order = orderOf(plan.entity, sort);
      if (limit === 0) return [];
      const joined = query.join?.map((join) => joinedOf(open, plan, join, query));
      const inline = bytes && inlineOf(selection, limit, bytes);
      const statement = selectQuery(open, plan, selection, { condition, joined, order, limit, offset, inline });
      return session.read({ model: plan.entity.name, operation: "findMany" }, async (client) => {
        let found: Rows = await client.queryRaw(statement);
        if (inline !== undefined) {
          const byIds = (ids: readonly string[]): Promise<Rows> =>
            client.queryRaw(selectByIdQuery(open, plan, selection, ids, condition, joined));
          found = { rows: await rowsThatFit(found.rows, { selection, inline, bytes: bytes as ByteBudget, byIds }) };
        }
        return joined === undefined ? rowsOf(selection, found) : joinedRowsOf(selection, joined, found);
      });
    },
    count(plan, condition) {
      const query = countQuery(session.connection(), plan, condition);
      return session.read({ model: plan.entity.name, operation: "count" }, async (client) =>
        Number((await client.queryRaw(query)).rows[0]?.[0]),
      );
    },
  };
}
