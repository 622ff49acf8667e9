import type { Condition, Row } from "../../../gate/index.ts";
import { conditionShape } from "../condition/condition-shape.ts";
import type { EntityPlan } from "../session/entity-plan.ts";
import { rowsOf, type Selection, selectByIdQuery } from "../statement/select-query.ts";
import type { SqlSession } from "../statement/sql-connection.ts";
import type { ById } from "./by-id.ts";
import { readTogether } from "./read-together.ts";

/** Reads that can be one statement: the same columns under the same further conditions. */
interface Group {
  readonly plan: EntityPlan;
  readonly selection: Selection;
  /** Conditions besides the id. */
  readonly rest: Condition;
}

/** Reads single records by id, together with others who ask in the same moment. */
export function sharedReads(session: SqlSession): (plan: EntityPlan, selection: Selection, by: ById) => Promise<Row[]> {
  const read = readTogether(async ({ plan, selection, rest }: Group, ids) => {
    const query = selectByIdQuery(session.connection(), plan, selection, [...new Set(ids)], rest);
    return session.read({ model: plan.entity.name, operation: "find" }, async (client) =>
      rowsOf(selection, await client.queryRaw(query)),
    );
  });
  return async (plan, selection, { id, rest }) => {
    const values: unknown[] = [];
    const shape = conditionShape(rest, session.connection().builder.provider, values);
    const key = `${plan.entity.name} ${selection.asText} ${selection.key} ${shape} ${values.length === 0 ? "" : JSON.stringify(values)}`;
    const row = await read(key, { plan, selection, rest }, id);
    return row === null ? [] : [row];
  };
}
