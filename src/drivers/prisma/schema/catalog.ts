/** A column as the database describes it. */
export interface ColumnShape {
  /** The database's own word, as `columnTypeOf` writes it. */
  readonly type: string;
  readonly required: boolean;
}

/** The tables of a database and their columns, by name. */
export type Catalog = ReadonlyMap<string, ReadonlyMap<string, ColumnShape>>;

/** A row of the queries that read it. */
export interface CatalogRow {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly required: boolean;
}

export function toCatalog(rows: readonly CatalogRow[]): Catalog {
  const catalog = new Map<string, Map<string, ColumnShape>>();
  for (const { table, column, type, required } of rows) {
    const columns = catalog.get(table) ?? new Map<string, ColumnShape>();
    catalog.set(table, columns.set(column, Object.freeze({ type, required })));
  }
  return catalog;
}
