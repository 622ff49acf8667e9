import type { CompiledQuery } from "kysely";
import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";
import type { Condition } from "../../../kernel/index.ts";
import { countsVersion } from "../next-version.ts";
import { ConditionBuilder } from "./build-condition.ts";
import { codecOf } from "./codec.ts";
import { conditionShape } from "./condition-shape.ts";
import type { Selection } from "./select-rows.ts";
import { type Slot, Slots } from "./slot.ts";
import type { SqlBuilder } from "./sql-builder.ts";
import type { SqlConnection } from "./sql-connection.ts";
import { type NamedQuery, toStatement } from "./statement-cache.ts";

/** Values of a row as they travel, by column. */
export type Encoded = ReadonlyMap<string, unknown>;

/** Rows up to which an INSERT is kept: larger ones are rare, and long. */
const MAX_KEPT_ROWS = 4;

function slotsFor(
  { provider }: SqlBuilder,
  { columns }: AnyEntity,
  names: readonly string[],
  slots: Slots,
): Record<string, Slot> {
  return Object.fromEntries(
    names.map((name) => [name, slots.next(codecOf(provider, columns[name] as ColumnDefinition).type)]),
  );
}

/**
 * The statement that stores rows, which have values for the same columns.
 * @param returning What it returns of the rows. @default nothing
 */
export function insertQuery(
  { builder, statements }: SqlConnection,
  entity: AnyEntity,
  rows: readonly Encoded[],
  returning?: Selection,
): NamedQuery {
  const names = [...(rows[0] as Encoded).keys()];
  const values = rows.flatMap((row) => [...row.values()]);
  const write = (): CompiledQuery => {
    const slots = new Slots();
    const insert = builder.db.insertInto(entity.name).values(rows.map(() => slotsFor(builder, entity, names, slots)));
    return (returning === undefined ? insert : insert.returning([...returning.names])).compile();
  };
  if (rows.length > MAX_KEPT_ROWS) return toStatement(write()).query(values);
  const shape = `insert ${entity.name} ${names.join()} ${rows.length} ${returning?.key ?? ""}`;
  return statements.get(shape, write).query(values);
}

/**
 * The statement that changes the rows that match.
 * @param returning What it returns of the rows. @default nothing
 */
export function updateQuery(
  { builder, statements }: SqlConnection,
  entity: AnyEntity,
  condition: Condition,
  data: Encoded,
  returning?: Selection,
): NamedQuery {
  const counts = countsVersion(entity, [...data.keys()]);
  const changed = [...data].filter(([name]) => !(counts && name === "version"));
  const names = changed.map(([name]) => name);
  const values = changed.map(([, value]) => value);
  const where = conditionShape(condition, builder.provider, values);
  const write = (): CompiledQuery => {
    const { sql } = builder;
    const slots = new Slots();
    const update = builder.db
      .updateTable(entity.name)
      .set({
        ...slotsFor(builder, entity, names, slots),
        ...(counts ? { version: sql`${sql.id(entity.name, "version")} + 1` } : {}),
      })
      .where(ownRows(builder, entity, condition, slots));
    return (returning === undefined ? update : update.returning([...returning.names])).compile();
  };
  return statements.get(`update ${entity.name} ${names.join()} ${where} ${returning?.key ?? ""}`, write).query(values);
}

/** The statement that deletes the rows that match. */
export function deleteQuery(
  { builder, statements }: SqlConnection,
  entity: AnyEntity,
  condition: Condition,
): NamedQuery {
  const values: unknown[] = [];
  const where = conditionShape(condition, builder.provider, values);
  const write = (): CompiledQuery =>
    builder.db
      .deleteFrom(entity.name)
      .where(ownRows(builder, entity, condition, new Slots()))
      .compile();
  return statements.get(`delete ${entity.name} ${where}`, write).query(values);
}

function asksForOthers(condition: Condition): boolean {
  if ("parts" in condition) return condition.parts.some(asksForOthers);
  return condition.kind === "related";
}

/** The condition of a statement that changes rows. MySQL does not read from the table that it changes, but from a copy. */
function ownRows(builder: SqlBuilder, { name }: AnyEntity, condition: Condition, slots: Slots) {
  const { provider, sql, db } = builder;
  const conditions = new ConditionBuilder(builder, slots);
  if (provider !== "mysql" || !asksForOthers(condition)) return conditions.build(condition, name);
  const found = db.selectFrom(name).select("id").where(conditions.build(condition, name));
  return sql<boolean>`${sql.id(name, "id")} in (select id from ${found} as _)`;
}
