import type { RawBuilder } from "kysely";
import type { JoinedFind } from "../../../gate/index.ts";
import type { ConditionBuilder } from "../condition/build-condition.ts";
import type { SqlBuilder } from "../condition/sql-builder.ts";
import { sourceOf, storedName } from "../tables/table-names.ts";

/**
 * A value of the record that belongsTo relations lead to; null where there is no such record.
 * @param table What the statement calls the table that they begin at
 * @param read The value in a table
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
  // A prefix that names of entities, their tables and conditions never have.
  const name = `_s${rest.length}`;
  const key = sql.id(table, storedName(relation.source, relation.foreignKey as string));
  const found = db
    .selectFrom(sourceOf(relation.target, name))
    .select(valueAlong(builder, conditions, rest, name, read).as("value"))
    .where(sql<boolean>`${sql.id(name, storedName(relation.target, "id"))} = ${key}`)
    .where(conditions.build(where, name));
  return sql`${found}`;
}
