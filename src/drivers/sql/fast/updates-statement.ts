import type { CompiledQuery } from "kysely";
import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";
import type { Condition } from "../../../gate/index.ts";
import { ConditionBuilder } from "../condition/build-condition.ts";
import { codecOf } from "../condition/column-codec.ts";
import { type Places, Slots } from "../condition/sql-builder.ts";
import type { Selection } from "../statement/select-query.ts";
import type { SqlConnection, Statement } from "../statement/sql-connection.ts";
import { type Changed, nextVersion } from "../statement/write-queries.ts";
import { sourceOf, storedName } from "../tables/table-names.ts";

/** Updates of single rows that differ in values only. */
export interface ChangesShape {
  readonly condition: Condition;
  /** The condition's shape. */
  readonly where: string;
  readonly changed: Changed;
  /** The columns of an update's values: those it sets, then those its condition compares. */
  readonly columns: readonly string[];
  /** The number of rows. */
  readonly size: number;
}

/**
 * PostgreSQL's statement that updates rows with different values and returns them, each followed by its index among the
 * given rows. The values are in row order. Rows that another transaction has locked are skipped.
 */
export function updatesStatement(
  { builder, statements }: SqlConnection,
  entity: AnyEntity,
  { condition, where, changed, columns, size }: ChangesShape,
  returning: Selection,
): Statement {
  const { name } = entity;
  const id = storedName(entity, "id");
  const { names, counts } = changed;
  const write = (): CompiledQuery => {
    const { db, sql } = builder;
    const slots = new Slots();
    const place = (index: number): string => `_${index}`;
    // An empty selection from the table, which gives the values their types: without it, they would all be text.
    let given = db
      .selectFrom(sourceOf(entity))
      .select([
        ...columns.map((column, index) => sql.id(storedName(entity, column)).as(place(index))),
        sql.lit(0).as("_place"),
      ])
      .where(sql<boolean>`false`);
    for (let row = 0; row < size; row++) {
      const values = columns.map((column) =>
        slots.next(codecOf(builder.provider, entity.columns[column] as ColumnDefinition).type),
      );
      given = given.unionAll(sql`select ${sql.join(values)}, ${sql.lit(row)}` as never);
    }
    let next = names.length;
    const compared: Places = { next: () => sql.id("_given", place(next++)) };
    return db
      .with(
        // Materialized: when PostgreSQL joins rows with a list of SELECTs, it may skip those that another transaction
        // has just changed.
        (cte) => cte("_given").materialized(),
        () => given,
      )
      .with(
        (cte) => cte("_rows").materialized(),
        (own) =>
          own
            .selectFrom(sourceOf(entity, "_own"))
            .innerJoin("_given", (join) => join.on(new ConditionBuilder(builder, compared).build(condition, "_own")))
            .select([
              sql.id("_own", id).as("_id"),
              "_given._place",
              ...names.map((_, index) => `_given.${place(index)}`),
            ] as never[])
            .modifyEnd(sql`for no key update of ${sql.id("_own")} skip locked`),
      )
      .updateTable(sourceOf(entity))
      .from("_rows")
      .set({
        ...Object.fromEntries(
          names.map((column, index) => [storedName(entity, column), sql.id("_rows", place(index))]),
        ),
        ...nextVersion(builder, entity, counts),
      })
      .where(sql<boolean>`${sql.id(name, id)} = ${sql.id("_rows", "_id")}`)
      .returning([
        ...returning.names.map((column) => sql.id(name, storedName(entity, column)).as(column)),
        "_rows._place",
      ] as never[])
      .compile();
  };
  const shape = `updates ${name} ${names.join()} ${where} ${size} ${returning.key}`;
  return statements.get(shape, write);
}
