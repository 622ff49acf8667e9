import type { AliasedRawBuilder, RawBuilder } from "kysely";
import type { AnyEntity, ColumnDefinition } from "../../../entity/index.ts";
import { type ByteBudget, mostBytes } from "../../../gate/index.ts";
import type { SqlBuilder } from "../condition/sql-builder.ts";
import { storedName } from "../tables/table-names.ts";

// A list whose values may be long is read in steps. Its first statement returns values up to a length at which all of
// them fit, and null in place of longer ones. For most lists this is sufficient. Otherwise the list is read again with
// the lengths of the longer values; if null may also be a value, the first statement already returns them. The number
// of records that fit is then known, and those with long values are read by their ids. So only values that fit are ever
// read.

/** Columns that may have longer values are read in steps. */
const LONG = 4_096;
/** Columns that may have longer values are read in steps if many short values together may be too large. */
const SHORT = 64;
/** The name of a record's size in the statement; fields cannot have this name. */
const SIZE = "_size";

/** The sizes of a selection's columns. */
export interface SelectionSizes {
  /** The total size of all short columns. */
  readonly short: number;
  readonly long: readonly string[];
  readonly all: readonly string[];
  readonly optional: ReadonlySet<string>;
}

/** The columns that a statement returns up to a length only. */
export interface Inline {
  readonly columns: readonly string[];
  /** Maximum size of a value in bytes. */
  readonly most: number;
  /** Whether rows end with the size of their record if one of its values is too long. */
  readonly sized: boolean;
}

/** Rows as adapters return them. */
export interface Rows {
  readonly rows: readonly (readonly unknown[])[];
}

export function sizesOf(entity: AnyEntity, names: readonly string[]): SelectionSizes {
  const sizes = names.map((name) => [name, mostBytes(entity.columns[name] as ColumnDefinition)] as const);
  const beyond = (most: number): string[] => sizes.filter(([, bytes]) => bytes > most).map(([name]) => name);
  const short = sizes.reduce((sum, [, bytes]) => sum + (bytes > LONG ? 0 : bytes), 0);
  const optional = new Set(names.filter((name) => entity.columns[name]?.optional));
  return Object.freeze({ short, long: beyond(LONG), all: beyond(SHORT), optional });
}

/**
 * The length up to which a list returns values immediately: its records share half of the remaining bytes. Undefined if
 * all values fit in any case.
 */
export function inlineOf(
  {
    names,
    sizes: { short, long, all, optional },
  }: { readonly names: readonly string[]; readonly sizes: SelectionSizes },
  limit: number | undefined,
  { left }: ByteBudget,
  counted?: ReadonlySet<string>,
): Inline | undefined {
  if (limit === undefined || !names.includes("id")) return undefined;
  const columns = (short * limit > left ? all : long).filter((name) => counted?.has(name) !== false);
  if (columns.length === 0) return undefined;
  // A power of two, so that there are few different statements.
  const most = 2 ** Math.max(4, Math.floor(Math.log2(left / 2 / limit / columns.length)));
  return { columns, most, sized: columns.some((name) => optional.has(name)) };
}

function length({ sql, provider }: SqlBuilder, entity: AnyEntity, column: string): RawBuilder<number> {
  const value = sql.id(entity.name, storedName(entity, column));
  return provider === "postgresql" ? sql`octet_length(cast(${value} as text))` : sql`octet_length(${value})`;
}

/** A value up to a length, or null. */
export function shortValue(
  builder: SqlBuilder,
  entity: AnyEntity,
  column: string,
  most: number,
): AliasedRawBuilder<unknown, string> {
  const { sql } = builder;
  const isShort = sql`${length(builder, entity, column)} <= ${sql.lit(most)}`;
  return sql`case when ${isShort} then ${sql.id(entity.name, storedName(entity, column))} end`.as(column);
}

/** The size in bytes of a record's values if one of them is too long, or null. */
export function sizeOfLong(
  builder: SqlBuilder,
  entity: AnyEntity,
  { columns, most }: Inline,
): AliasedRawBuilder<number | null, string> {
  const { sql } = builder;
  const lengths = columns.map((column) => length(builder, entity, column));
  const isLong = sql.join(
    lengths.map((bytes) => sql`${bytes} > ${sql.lit(most)}`),
    sql` or `,
  );
  const sum = sql.join(
    lengths.map((bytes) => sql`coalesce(${bytes}, 0)`),
    sql` + `,
  );
  return sql<number | null>`case when ${isLong} then ${sum} end`.as(SIZE);
}

/** The limits for the rows of a list. */
export interface Fitting {
  readonly selection: { readonly names: readonly string[] };
  readonly inline: Inline;
  readonly bytes: ByteBudget;
}

/** Whether the rows of a list are complete and fit; if so, their bytes are spent. */
export function allFit(rows: Rows["rows"], { selection: { names }, inline, bytes }: Fitting): boolean {
  const columns = inline.columns.map((name) => names.indexOf(name));
  const size = (rows[0]?.length ?? 0) - 1;
  let all = 0;
  for (const row of rows) {
    const isWhole = inline.sized ? row[size] === null : columns.every((column) => row[column] !== null);
    if (!isWhole) return false;
    all += shownBytes(row, columns);
  }
  if (all > bytes.left) return false;
  bytes.take([all]);
  return true;
}

/**
 * Returns the rows of a list that fit, with all their values; rows deleted meanwhile are left out.
 * @param rows rows with their sizes
 * @param byIds reads complete rows
 */
export async function rowsThatFit(
  rows: Rows["rows"],
  { selection: { names }, inline, bytes }: Fitting,
  byIds: (ids: readonly string[]) => Promise<Rows>,
): Promise<Rows["rows"]> {
  const size = (rows[0]?.length ?? 0) - 1;
  const columns = inline.columns.map((name) => names.indexOf(name));
  const sizes = rows.map((row) => (row[size] === null ? shownBytes(row, columns) : Number(row[size])));
  const kept = rows.slice(0, bytes.take(sizes));
  const isLong = (row: readonly unknown[]): boolean => row[size] !== null;
  if (!kept.some(isLong)) return kept;
  const id = names.indexOf("id");
  const { rows: whole } = await byIds(kept.filter(isLong).map((row) => row[id] as string));
  const byId = new Map(whole.map((row) => [row[id], row]));
  return kept.map((row) => (isLong(row) ? byId.get(row[id]) : row)).filter((row) => row !== undefined);
}

function shownBytes(row: readonly unknown[], columns: readonly number[]): number {
  let bytes = 0;
  for (const column of columns) {
    const value = row[column];
    if (typeof value === "string") bytes += value.length;
  }
  return bytes;
}
