import type { AnyEntity } from "../../../entity/index.ts";
import type { Condition } from "../../../gate/index.ts";
import { ConditionBuilder } from "../condition/build-condition.ts";
import { conditionShape } from "../condition/condition-shape.ts";
import { Slot, Slots, type SqlBuilder } from "../condition/sql-builder.ts";
import { sourceOf, storedName } from "../tables/table-names.ts";

/** The statement that reads the ids of the matching rows as "id", with its values. */
export function idsQuery(
  builder: SqlBuilder,
  entity: AnyEntity,
  condition: Condition,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const given: unknown[] = [];
  conditionShape(condition, builder.provider, given);
  const { db, sql } = builder;
  const { sql: text, parameters } = db
    .selectFrom(sourceOf(entity))
    .select(sql.id(entity.name, storedName(entity, "id")).as("id"))
    .where(new ConditionBuilder(builder, new Slots()).build(condition, entity.name))
    .compile();
  return { sql: text, values: parameters.map((value) => (value instanceof Slot ? given[value.index] : value)) };
}
