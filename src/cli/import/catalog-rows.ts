import type { Reference } from "./database-shape.ts";

/** Runs a query; its rows by column. Values are texts, numbers and nulls. */
export type Query = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** What of a database is read. */
export interface ReadOptions {
  /** Schemas of PostgreSQL. @default the one of the connection */
  readonly schemas?: readonly string[] | undefined;
}

/** A row of the catalogue. */
export type CatalogRow = Readonly<Record<string, unknown>>;

/** Rows by the value of a column. */
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

/** A text of the catalogue; undefined for an empty one. */
export function textOf(value: unknown): string | undefined {
  return value === null || value === undefined || value === "" ? undefined : String(value);
}

/** What SQL calls what happens to rows that refer to a deleted one; what is missing has no word in entities. */
export const ON_DELETE: Readonly<Record<string, Reference["onDelete"]>> = {
  CASCADE: "cascade",
  "SET NULL": "setNull",
  RESTRICT: "restrict",
  "NO ACTION": "restrict",
};
