import type { Reference } from "./database-shape.ts";

/** Runs a query and returns its rows by column. Values are texts, numbers and nulls. */
export type Query = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** Options for reading a database. */
export interface ReadOptions {
  /** The schemas in PostgreSQL. @default the connection's */
  readonly schemas?: readonly string[] | undefined;
}

/** A row of the catalog. */
export type CatalogRow = Readonly<Record<string, unknown>>;

/** Groups rows by the value of a column. */
export function grouped<T extends Readonly<Record<string, unknown>>>(
  rows: readonly T[],
  by: string,
): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const key = String(row[by]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

/** A text of the catalog; undefined for an empty one. */
export function textOf(value: unknown): string | undefined {
  return value === null || value === undefined || value === "" ? undefined : String(value);
}

/** The ON DELETE actions of SQL; entities do not support others. */
export const ON_DELETE: Readonly<Record<string, Reference["onDelete"]>> = {
  CASCADE: "cascade",
  "SET NULL": "setNull",
  RESTRICT: "restrict",
  "NO ACTION": "restrict",
};
