import type { ColumnDefinition, ResolvedRelation } from "../../../entity/index.ts";
import type { Condition, JoinedFind, Row } from "../../../gate/index.ts";
import type { ConditionBuilder } from "../condition/build-condition.ts";
import { readOf } from "../condition/comparable.ts";
import { conditionShape } from "../condition/condition-shape.ts";
import type { SqlBuilder } from "../condition/sql-builder.ts";
import type { Rows } from "../statement/long-values.ts";
import { type Along, type Selection, type SelectWriter, selectionOf } from "../statement/select-query.ts";
import type { SqlConnection } from "../statement/sql-connection.ts";
import { sourceOf, storedName } from "../tables/table-names.ts";

/** Related records that a list reads. */
interface Joined {
  readonly relation: ResolvedRelation;
  readonly selection: Selection;
  /** The condition on the related records. */
  readonly condition: Condition;
}

/** The related records that a list reads, and a function that finds them in its rows. */
interface Joins extends Along {
  /** @param selection the selection of the list */
  rowsOf(selection: Selection, rows: Rows): Row[];
}

/** Reads one related record for each row, or null when it does not meet the condition. */
export function joinsOf(open: SqlConnection, joins: readonly JoinedFind[], textMoments: boolean | undefined): Joins {
  const joined = joins.map(({ relation, where }): Joined => {
    const selection = selectionOf(open, open.entityOf(relation.target), { textMoments });
    return { relation, selection, condition: where };
  });
  return {
    shape(provider, values) {
      let shape = "";
      for (const { relation, selection, condition } of joined)
        shape += `${relation.name}:${selection.key}(${conditionShape(condition, provider, values)})`;
      return shape;
    },
    add: (query, conditions) =>
      joined.reduce((found, one, index) => addJoin(open.builder, found, conditions, one, index), query),
    rowsOf: (selection, { rows }) => rows.map((values) => joinedRow(selection, joined, values)),
  };
}

function addJoin(
  builder: SqlBuilder,
  query: SelectWriter,
  conditions: ConditionBuilder,
  { relation, selection, condition }: Joined,
  index: number,
): SelectWriter {
  const { sql } = builder;
  // Names of entities, tables and conditions never have this prefix.
  const near = `_j${index}`;
  const { source, target, foreignKey } = relation;
  const key = storedName(source, foreignKey as string);
  const isIt = sql<boolean>`${sql.id(near, storedName(target, "id"))} = ${sql.id(source.name, key)}`;
  const on = sql<boolean>`${isIt} and ${conditions.build(condition, near)}`;
  return query
    .leftJoin(sourceOf(target, near), (join) => join.on(on))
    .select(
      selection.names.map((name) => {
        const value = sql.id(near, storedName(target, name));
        return readOf(builder, target.columns[name] as ColumnDefinition, value).as(`${near}${name}`);
      }),
    );
}

function joinedRow({ names, decode }: Selection, joined: readonly Joined[], values: readonly unknown[]): Row {
  const row = decode(values, 0);
  let first = names.length;
  for (const { relation, selection } of joined) {
    const id = first + selection.names.indexOf("id");
    row[relation.name] = values[id] === null ? null : selection.decode(values, first);
    first += selection.names.length;
  }
  return row;
}
