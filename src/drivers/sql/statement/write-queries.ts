import type { CompiledQuery, RawBuilder } from "kysely";
import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";
import { type Condition, looksAt } from "../../../gate/index.ts";
import { ConditionBuilder } from "../condition/build-condition.ts";
import { codecOf } from "../condition/column-codec.ts";
import { conditionShape } from "../condition/condition-shape.ts";
import { type Slot, Slots, type SqlBuilder } from "../condition/sql-builder.ts";
import { countsVersion } from "../session/connection.ts";
import { isComposite, sourceOf, storedName, tableOf } from "../tables/table-names.ts";
import { idOf, type Selection } from "./select-query.ts";
import { type NamedQuery, type SqlConnection, type Statement, toStatement } from "./sql-connection.ts";

/** The encoded values of a row, by column. */
export type Encoded = ReadonlyMap<string, unknown>;

/** INSERTs with more rows are not cached: they are rare and long. */
const MAX_KEPT_ROWS = 16;

function slotsFor(
  { provider }: SqlBuilder,
  { columns }: AnyEntity,
  names: readonly string[],
  slots: Slots,
): Record<string, Slot> {
  return Object.fromEntries(
    names.map((name) => {
      const column = columns[name] as ColumnDefinition;
      return [column.stored, slots.next(codecOf(provider, column).type)];
    }),
  );
}

/**
 * The statement that stores rows with the same columns.
 * @param returning the columns to return @default none
 */
export function insertQuery(
  open: SqlConnection,
  entity: AnyEntity,
  rows: readonly Encoded[],
  returning?: Selection,
): NamedQuery {
  const names = [...(rows[0] as Encoded).keys()];
  const values = rows.flatMap((row) => [...row.values()]);
  const { length } = rows;
  if (length > MAX_KEPT_ROWS) return toStatement(writeInsert(open.builder, entity, names, length)).query(values);
  return insertStatement(open, entity, names, length, returning).query(values);
}

/**
 * The cached statement that stores a number of rows, whose values are in row order.
 * @param returning the columns to return @default none
 */
export function insertStatement(
  { builder, statements }: SqlConnection,
  entity: AnyEntity,
  names: readonly string[],
  size: number,
  returning?: Selection,
): Statement {
  const shape = `insert ${entity.name} ${names.join()} ${size} ${returning?.key ?? ""}`;
  return statements.get(shape, () => writeInsert(builder, entity, names, size, returning));
}

/**
 * PostgreSQL's statement that stores either all rows, whose values are in row order, or none: it divides by zero if a
 * trigger skips some. Returns them in the same order, or no rows if a trigger skips all.
 */
export function insertAllStatement(
  { builder, statements }: SqlConnection,
  entity: AnyEntity,
  names: readonly string[],
  size: number,
  returning: Selection,
): Statement {
  const write = (): CompiledQuery => {
    const { db, sql } = builder;
    const stored = returning.names.map((name) => storedName(entity, name));
    const isWhole = sql`1 / (select (count(*) = ${sql.lit(size)})::int from "_stored")`;
    return db
      .with("_stored", () => insertOf(builder, entity, names, size).returning(stored))
      .selectFrom("_stored")
      .selectAll()
      .select(isWhole.as("_whole"))
      .compile();
  };
  return statements.get(`insert all ${entity.name} ${names.join()} ${size} ${returning.key}`, write);
}

function writeInsert(
  builder: SqlBuilder,
  entity: AnyEntity,
  names: readonly string[],
  size: number,
  returning?: Selection,
): CompiledQuery {
  return compiled(insertOf(builder, entity, names, size), builder, entity, returning);
}

function insertOf(builder: SqlBuilder, entity: AnyEntity, names: readonly string[], size: number) {
  const slots = new Slots();
  const rows = Array.from({ length: size }, () => slotsFor(builder, entity, names, slots));
  return builder.db.insertInto(tableOf(entity)).values(rows);
}

function compiled(
  query: { returning(columns: string[]): { compile(): CompiledQuery }; compile(): CompiledQuery },
  builder: SqlBuilder,
  entity: AnyEntity,
  returning: Selection | undefined,
): CompiledQuery {
  // The table of an INSERT has its own name, not that of the entity.
  const names = returning?.names.map((name) =>
    name === "id" && isComposite(entity) ? idOf(builder, entity, []).as(name) : storedName(entity, name),
  );
  return (names === undefined ? query : query.returning(names as string[])).compile();
}

/**
 * The statement that stores a row if the stored rows it refers to meet a condition.
 * @param left the condition that `askedOfStored` returned for the row
 * @param returning the columns to return @default none
 */
export function insertWhereQuery(
  { builder, statements }: SqlConnection,
  entity: AnyEntity,
  row: Encoded,
  left: Condition,
  returning?: Selection,
): NamedQuery {
  const { sql, db, provider } = builder;
  const names = [...row.keys()];
  const values = [...row.values()];
  const where = conditionShape(left, provider, values, Object.fromEntries(row));
  const write = (): CompiledQuery => {
    const slots = new Slots();
    const own = sql.join(Object.values(slotsFor(builder, entity, names, slots)));
    const from = provider === "mysql" ? sql` from dual` : sql``;
    const insert = db
      .insertInto(tableOf(entity))
      .columns(names.map((name) => storedName(entity, name)))
      .expression(sql`select ${own}${from} where ${new ConditionBuilder(builder, slots).buildForNew(left)}` as never);
    return compiled(insert, builder, entity, returning);
  };
  return statements
    .get(`insert ${entity.name} ${names.join()} where ${where} ${returning?.key ?? ""}`, write)
    .query(values);
}

/** The changes of an UPDATE. */
export interface Changed {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  /** Whether the database increments the version. */
  readonly counts: boolean;
}

/** The changes of an UPDATE with these values, without the version, which is incremented. */
export function changedBy(entity: AnyEntity, data: Encoded): Changed {
  const names = [...data.keys()];
  const values = [...data.values()];
  const counts = countsVersion(entity, names);
  const version = counts ? names.indexOf("version") : -1;
  if (version >= 0) {
    names.splice(version, 1);
    values.splice(version, 1);
  }
  return { names, values, counts };
}

/** The statement that updates the matching rows. @param returning the columns to return @default none */
export function updateQuery(
  open: SqlConnection,
  entity: AnyEntity,
  condition: Condition,
  data: Encoded,
  returning?: Selection,
): NamedQuery {
  const changed = changedBy(entity, data);
  const values = [...changed.values];
  const where = conditionShape(condition, open.builder.provider, values);
  return updateStatement(open, entity, condition, where, changed, returning).query(values);
}

/**
 * The UPDATE statement for any values: first those it sets, then those of the condition. @param where the condition's
 * shape
 */
export function updateStatement(
  { builder, statements }: SqlConnection,
  entity: AnyEntity,
  condition: Condition,
  where: string,
  { names, counts }: Changed,
  returning?: Selection,
): Statement {
  const write = (): CompiledQuery => {
    const slots = new Slots();
    const update = builder.db
      .updateTable(sourceOf(entity))
      .set({ ...slotsFor(builder, entity, names, slots), ...nextVersion(builder, entity, counts) })
      .where(ownRows(builder, entity, condition, slots, "no key update"));
    return compiled(update, builder, entity, returning);
  };
  return statements.get(`update ${entity.name} ${names.join()} ${where} ${returning?.key ?? ""}`, write);
}

export function nextVersion(
  { sql }: SqlBuilder,
  entity: AnyEntity,
  counts: boolean,
): Record<string, RawBuilder<unknown>> {
  if (!counts) return {};
  const stored = storedName(entity, "version");
  return { [stored]: sql`${sql.id(entity.name, stored)} + 1` };
}

/** The statement that deletes the matching rows. */
export function deleteQuery(
  { builder, statements }: SqlConnection,
  entity: AnyEntity,
  condition: Condition,
): NamedQuery {
  const values: unknown[] = [];
  const where = conditionShape(condition, builder.provider, values);
  const write = (): CompiledQuery =>
    builder.db
      // MariaDB does not support a table alias here.
      .deleteFrom(builder.provider === "mysql" ? tableOf(entity) : sourceOf(entity))
      .where(ownRows(builder, entity, condition, new Slots(), "update"))
      .compile();
  return statements.get(`delete ${entity.name} ${where}`, write).query(values);
}

/** Whether a condition selects its rows by a list of ids. */
export function listsIds(condition: Condition): boolean {
  if (condition.op === "and") return condition.of.some(listsIds);
  return condition.op === "compare" && condition.test === "in" && condition.column.role === "id";
}

/**
 * The condition of a statement that changes rows. MySQL cannot read from the table that it changes, so it reads from a
 * copy. On PostgreSQL, rows in a list of ids are locked in order first; otherwise two statements could deadlock.
 */
function ownRows(
  builder: SqlBuilder,
  entity: AnyEntity,
  condition: Condition,
  slots: Slots,
  lock: "update" | "no key update",
) {
  const { columns } = entity;
  const { provider, sql, db } = builder;
  const name = provider === "mysql" && lock === "update" ? tableOf(entity) : entity.name;
  const matching = new ConditionBuilder(builder, slots).build(condition, name);
  const key = (columns.id?.parts ?? [columns.id as ColumnDefinition]).map((part) => part.stored);
  const found = db.selectFrom(sourceOf(entity, name)).select(key).where(matching);
  const id = sql.join(key.map((stored) => sql.id(name, stored)));
  if (provider === "mysql" && looksAt(condition))
    return sql<boolean>`(${id}) in (select ${sql.join(key.map((stored) => sql.id(stored)))} from ${found} as _)`;
  if (provider !== "postgresql" || !listsIds(condition) || isComposite(entity)) return matching;
  const collation = columns.id?.kind.column.scalar === "String" ? sql` collate "C"` : sql``;
  const inOrder = sql`order by ${id}${collation} for ${sql.raw(lock)}`;
  return sql<boolean>`${id} = any(array(${found.modifyEnd(inOrder)}))`;
}
