import type { RawBuilder } from "kysely";
import type { JoinedFind } from "../../../gate/index.ts";
import type { ConditionBuilder } from "../condition/build-condition.ts";
import type { SqlBuilder } from "../condition/sql-builder.ts";
import { sourceOf, storedName } from "../tables/table-names.ts";

/**
 * A value of the record at the end of belongsTo relations; null if there is no such record.
 * @param table the name of the first table in the statement
 * @param read the value in a table
 */
export function valueAlong(
  builder: SqlBuilder,
  conditions: ConditionBuilder,
  [step, ...rest]: readonly JoinedFind[],
  table: string,
  read: (table: string) => RawBuilder<unknown>,
): RawBuilder<unknown> {
  if (step === undefined) return read(table);
  const { sql, db } = builder;
  const { relation, where } = step;
  // Names of entities, tables and conditions never have this prefix.
  const name = `_s${rest.length}`;
  const key = sql.id(table, storedName(relation.source, relation.foreignKey as string));
  const found = db
    .selectFrom(sourceOf(relation.target, name))
    .select(valueAlong(builder, conditions, rest, name, read).as("value"))
    .where(sql<boolean>`${sql.id(name, storedName(relation.target, "id"))} = ${key}`)
    .where(conditions.build(where, name));
  return sql`${found}`;
}
