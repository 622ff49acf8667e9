import type { AnyEntity } from "../../../entity/index.ts";
import type { Condition } from "../../../gate/index.ts";
import { ConditionBuilder } from "../condition/build-condition.ts";
import { conditionShape } from "../condition/condition-shape.ts";
import { Slot, Slots, type SqlBuilder } from "../condition/sql-builder.ts";
import { sourceOf, storedName } from "../tables/table-names.ts";

/**
 * The statement that reads the ids of the matching rows as "id", with its values.
 * @param locks whether it also locks the rows, in the order of their ids; SQLite has no such statement
 */
export function idsQuery(
  builder: SqlBuilder,
  entity: AnyEntity,
  condition: Condition,
  locks = false,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const given: unknown[] = [];
  conditionShape(condition, builder.provider, given);
  const { db, sql } = builder;
  const id = sql.id(entity.name, storedName(entity, "id"));
  const query = db
    .selectFrom(sourceOf(entity))
    .select(id.as("id"))
    .where(new ConditionBuilder(builder, new Slots()).build(condition, entity.name));
  const { sql: text, parameters } = (locks ? query.orderBy(id).forUpdate() : query).compile();
  return { sql: text, values: parameters.map((value) => (value instanceof Slot ? given[value.index] : value)) };
}
