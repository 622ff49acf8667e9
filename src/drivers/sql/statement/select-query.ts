import type { CompiledQuery, Expression, RawBuilder, SelectQueryBuilder, SqlBool } from "kysely";
import type { AnyEntity, ColumnDefinition, Provider } from "../../../entity/index.ts";
import {
  ALWAYS,
  and,
  type Condition,
  type Count,
  columnOf,
  compare,
  type Find,
  RANK,
  type Row,
  type SortKey,
  totalOrder,
} from "../../../gate/index.ts";
import { BadRequestError } from "../../../kernel/index.ts";
import { ConditionBuilder } from "../condition/build-condition.ts";
import { type RowDecoder, rowDecoder } from "../condition/column-codec.ts";
import { readOf, sortedBy } from "../condition/comparable.ts";
import { conditionShape } from "../condition/condition-shape.ts";
import { Slots, type SqlBuilder, type Tables, WHOLE_NUMBER } from "../condition/sql-builder.ts";
import { isComposite, sourceOf, storedName } from "../tables/table-names.ts";
import { type Inline, type Rows, type SelectionSizes, shortValue, sizeOfLong, sizesOf } from "./long-values.ts";
import type { NamedQuery, SqlConnection } from "./sql-connection.ts";
import { valueAlong } from "./value-along.ts";

/** The columns that a statement returns. */
export interface Selection {
  readonly names: readonly string[];
  /** The same text for the same columns in the same order. */
  readonly key: string;
  /** Whether datetimes may be texts. */
  readonly asText: boolean;
  readonly decode: RowDecoder;
  readonly sizes: SelectionSizes;
}

/** Finds selections by entity and columns; how values are read depends on the database. */
export interface Selections {
  get(key: string, make: () => Selection): Selection;
}

/** Makes a selection for each operation, without a cache. */
export const MADE_ANEW: Selections = { get: (_key, make) => make() };

/** The data that a statement reads from other tables, for each of its rows. */
export interface Along {
  /** The same text for reads that differ in values only. @param values receives the values */
  shape(provider: Provider, values: unknown[]): string;
  add(query: SelectWriter, conditions: ConditionBuilder): SelectWriter;
}

/** A SELECT that is being written. */
export type SelectWriter = SelectQueryBuilder<Tables, string, object>;

/** The requested rows, their order and their number. */
export interface RowsWanted {
  readonly condition: Condition;
  /** @default nothing */
  readonly along?: Along | undefined;
  /** @default no order: at most one row matches */
  readonly order?: readonly SortKey[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly rank?: Find["rank"];
  /** Only the first rows for each value of a column. */
  readonly perParent?: Find["perParent"];
  /** Limits long values. @default no limit */
  readonly inline?: Inline | undefined;
  /** Whether the rows are locked until the transaction ends. @default false */
  readonly lock?: boolean | "delete" | undefined;
}

/** @throws BadRequestError for names that are not columns */
export function assertColumns({ name, columns }: AnyEntity, names: readonly string[]): void {
  for (const one of names) if (!Object.hasOwn(columns, one)) throw new BadRequestError(`${name} has no field "${one}"`);
}

/** The requested columns. @throws BadRequestError for names that are not columns */
export function selectionOf(
  { builder: { provider }, selections, moments }: SqlConnection,
  entity: AnyEntity,
  { select, textMoments: asText = false }: Pick<Find, "select" | "textMoments"> = {},
): Selection {
  if (select !== undefined) assertColumns(entity, select);
  const key = select?.join() ?? "*";
  return selections.get(`${entity.name} ${asText} ${key}`, () => {
    const names = select === undefined ? Object.keys(entity.columns) : [...new Set(select)];
    const decode = rowDecoder(provider, entity, names, moments, asText);
    return Object.freeze({ names, key, asText, decode, sizes: sizesOf(entity, names) });
  });
}

/**
 * Adds the id as the last sort key, so that the order is total. @throws BadRequestError for a field that is not a
 * sortable column
 */
export function orderOf(
  entity: AnyEntity,
  sort: readonly SortKey[] | undefined,
  rank?: Find["rank"],
): readonly SortKey[] {
  const order = totalOrder(sort);
  for (const key of order) {
    const { field } = key;
    if (field === RANK && rank !== undefined) continue;
    if (columnOf(entity, key)?.kind.sortable !== true)
      throw new BadRequestError(`${entity.name} cannot be sorted by "${field}"`);
  }
  return order;
}

/** The statement that reads rows. */
export function selectQuery(
  { builder, statements }: SqlConnection,
  entity: AnyEntity,
  selection: Selection,
  wanted: RowsWanted,
): NamedQuery {
  const { condition, along, order = [], rank = [], limit, offset = 0, perParent, inline, lock = false } = wanted;
  const values: unknown[] = [];
  const alongShape = along?.shape(builder.provider, values) ?? "";
  const where = conditionShape(condition, builder.provider, values);
  const isCut = offset > 0;
  const page = `${limit === undefined ? "" : "l"}${isCut ? "o" : ""}`;
  const sorted = order
    .map(({ field, direction, through = [] }) => {
      if (field !== RANK && through.length === 0) return `${direction}.${field}`;
      const weights = field === RANK ? rank : [];
      const conditions = [...weights, ...through.toReversed()].map(
        (one) => `${conditionShape(one.where, builder.provider, values)}${"weight" in one ? one.weight : ""}`,
      );
      return `${direction}.${field}(${conditions.join("+")})`;
    })
    .join();
  if (limit !== undefined) values.push(limit);
  if (isCut) values.push(offset);
  const shape = `select ${entity.name} ${selection.key} ${where} ${sorted} ${page} ${alongShape}${inline === undefined ? "" : `${inline.most} ${inline.columns}${inline.sized ? " sized" : ""}`}${lock ? `lock ${lock}` : ""}${perParent === undefined ? "" : `${perParent.limit} of each ${perParent.column}`}`;
  return statements.get(shape, () => writeSelect(builder, entity, selection.names, wanted)).query(values);
}

function writeSelect(
  builder: SqlBuilder,
  entity: AnyEntity,
  names: readonly string[],
  { condition, along, order = [], rank = [], limit, offset = 0, perParent, inline, lock = false }: RowsWanted,
): CompiledQuery {
  const { db, sql, provider } = builder;
  const slots = new Slots();
  const conditions = new ConditionBuilder(builder, slots);
  let query: SelectWriter = db
    .selectFrom(sourceOf(entity))
    .select(
      names.map((name) =>
        inline?.columns.includes(name)
          ? shortValue(builder, entity, name, inline.most)
          : selected(builder, entity, name),
      ),
    );
  if (along !== undefined) query = along.add(query, conditions);
  if (inline?.sized) query = query.select(sizeOfLong(builder, entity, inline));
  const matching = conditions.build(condition, entity.name);
  const ordered = orderBy(builder, conditions, entity, order, () =>
    sumOf(builder, rank, (of) => conditions.build(of, entity.name)),
  );
  query = query.where(
    perParent === undefined ? matching : firstOfEach(builder, entity, { matching, ordered, perParent }),
  );
  for (const key of ordered) query = query.orderBy(key);
  if (limit !== undefined) query = query.limit(sql<number>`${slots.next(WHOLE_NUMBER)}`);
  // These databases do not support an offset without a limit.
  else if (offset > 0 && provider !== "postgresql")
    query = query.limit(sql<number>`${sql.lit(Number.MAX_SAFE_INTEGER)}`);
  if (offset > 0) query = query.offset(sql<number>`${slots.next(WHOLE_NUMBER)}`);
  if (lock)
    query = query.modifyEnd(provider === "postgresql" && lock === true ? sql`for no key update` : sql`for update`);
  return query.compile();
}

/** The expressions of sort keys. Null is the smallest value, as by default on other databases. */
function orderBy(
  builder: SqlBuilder,
  conditions: ConditionBuilder,
  entity: AnyEntity,
  order: readonly SortKey[],
  rank: () => RawBuilder<number>,
): RawBuilder<unknown>[] {
  const { sql, provider } = builder;
  return order.flatMap((key) => {
    const { field, direction, through = [] } = key;
    if (field === RANK) return [sql`${rank()} ${sql.raw(direction)}`];
    const column = columnOf(entity, key) as ColumnDefinition;
    return (column.parts ?? [column]).map((part) => {
      const isNullable = provider === "postgresql" && (part.optional || through.length > 0);
      const nulls = isNullable ? (direction === "asc" ? " nulls first" : " nulls last") : "";
      const value = valueAlong(builder, conditions, through, entity.name, (table) =>
        sortedBy(builder, part, sql.id(table, part.stored)),
      );
      return sql`${value} ${sql.raw(direction + nulls)}`;
    });
  });
}

/** Adds up the weights of the conditions that a row meets. */
function sumOf(
  { sql }: SqlBuilder,
  rank: NonNullable<Find["rank"]>,
  build: (condition: Condition) => RawBuilder<boolean>,
): RawBuilder<number> {
  const parts = rank.map(({ where, weight }) => sql`case when ${build(where)} then ${sql.lit(weight)} else 0 end`);
  return parts.length === 0 ? sql<number>`0 + 0` : sql<number>`${sql.join(parts, sql` + `)}`;
}

/** The condition that a row is among the first matching rows with the same value in a column. */
function firstOfEach(
  { db, sql }: SqlBuilder,
  entity: AnyEntity,
  {
    matching,
    ordered,
    perParent: { column, limit },
  }: {
    readonly matching: Expression<SqlBool>;
    readonly ordered: readonly RawBuilder<unknown>[];
    readonly perParent: NonNullable<Find["perParent"]>;
  },
): RawBuilder<boolean> {
  const id = sql.id(entity.name, storedName(entity, "id"));
  const parent = sql.id(entity.name, storedName(entity, column));
  const numbered = db
    .selectFrom(sourceOf(entity))
    .select([
      sql`${id}`.as("id"),
      sql<number>`row_number() over (partition by ${parent} order by ${sql.join(ordered)})`.as("number"),
    ])
    .where(matching);
  return sql<boolean>`${id} in (select ${sql.id("first", "id")} from ${numbered} as ${sql.id("first")} where ${sql.id("first", "number")} <= ${sql.lit(limit)})`;
}

/** The text of a composite id; see `composeId`. @param from what qualifies the columns */
export function idOf({ sql, provider }: SqlBuilder, { name, columns }: AnyEntity, from = [name]): RawBuilder<string> {
  const parts = (columns.id?.parts ?? []).map(({ stored }) => {
    const text = sql`cast(${sql.id(...from, stored)} as ${sql.raw(provider === "mysql" ? "char" : "text")})`;
    return sql`replace(replace(${text}, '%', '%25'), '~', '%7E')`;
  });
  return provider === "mysql"
    ? sql`concat(${sql.join(parts, sql`, '~', `)})`
    : sql`${sql.join(parts, sql` || '~' || `)}`;
}

/** A column of a SELECT. */
function selected(builder: SqlBuilder, entity: AnyEntity, name: string) {
  const { sql } = builder;
  if (name === "id" && isComposite(entity)) return idOf(builder, entity).as(name);
  const stored = storedName(entity, name);
  const column = entity.columns[name] as ColumnDefinition;
  // Otherwise Kysely would prefix the table's name with the connection's schema.
  const isOwn = stored === name && entity.table === undefined && !entity.existing;
  return isOwn ? (`${entity.name}.${name}` as const) : readOf(builder, column, sql.id(entity.name, stored)).as(name);
}

/** The statement that reads records by id. @param rest additional conditions @default none */
export function selectByIdQuery(
  connection: SqlConnection,
  entity: AnyEntity,
  selection: Selection,
  ids: readonly string[],
  rest: Condition = ALWAYS,
  along?: Along,
): NamedQuery {
  const column = entity.columns.id as ColumnDefinition;
  const own = ids.length === 1 ? compare(column, "eq", ids[0]) : compare(column, "in", ids);
  return selectQuery(connection, entity, selection, { condition: and([own, rest]), along });
}

/** The statement that counts rows; it returns one number. */
export function countQuery(
  { builder, statements }: SqlConnection,
  entity: AnyEntity,
  { where: condition, most }: Omit<Count, "kind" | "entity">,
): NamedQuery {
  const values: unknown[] = [];
  const shape = `count ${entity.name} ${conditionShape(condition, builder.provider, values)} ${most ?? ""}`;
  const write = (): CompiledQuery => {
    const { db, sql } = builder;
    const matching = new ConditionBuilder(builder, new Slots()).build(condition, entity.name);
    const rows = db.selectFrom(sourceOf(entity)).where(matching);
    const count = sql<number>`count(*)`.as("count");
    if (most === undefined) return rows.select(count).compile();
    const first = rows.select(sql<number>`1`.as("one")).limit(sql<number>`${sql.lit(most)}`);
    return db.selectFrom(first.as("first")).select(count).compile();
  };
  return statements.get(shape, write).query(values);
}

/** The records of a result. */
export function rowsOf({ decode }: Selection, { rows }: Rows): Row[] {
  return rows.map((values) => decode(values, 0));
}
