import type { Provider } from "../../../entity/index.ts";

/** A column as the database describes it. */
export interface ColumnShape {
  /** The database's name of the type, as returned by `columnTypeOf`. */
  readonly type: string;
  readonly required: boolean;
  /** Whether the database fills in missing values: a default, a sequence, a computed column. */
  readonly hasDefault: boolean;
}

/** The tables of a database and their columns, by name. */
export type Catalog = ReadonlyMap<string, ReadonlyMap<string, ColumnShape>>;

/**
 * The query for the columns of all tables: table, column, type, 1 if required, 1 if it has a default. Only PostgreSQL's
 * has a parameter: the schema.
 * @param views whether to include views
 */
export function columnsQuery(provider: Provider, views: boolean): string {
  if (provider === "sqlite")
    // The column that is an alias for the row id is filled in automatically.
    return `SELECT m.name, c.name, lower(c.type), c."notnull",
        c.dflt_value IS NOT NULL OR c.hidden > 1 OR (c.pk > 0 AND lower(c.type) = 'integer')
      FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c
      WHERE c.hidden <> 1 AND m.type IN ('table'${views ? ", 'view'" : ""}) AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      ORDER BY m.name, c.cid`;
  if (provider === "mysql")
    return `SELECT TABLE_NAME, COLUMN_NAME, IF(DATA_TYPE = 'enum', COLUMN_TYPE, lower(COLUMN_TYPE)), IS_NULLABLE = 'NO',
        COLUMN_DEFAULT IS NOT NULL OR EXTRA LIKE '%auto_increment%' OR EXTRA LIKE '%GENERATED%'
      FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION`;
  return `SELECT c.relname::text, a.attname::text,
      coalesce((SELECT 'enum(' || string_agg(quote_literal(e.enumlabel), ',' ORDER BY e.enumsortorder) || ')' || min(CASE WHEN t.typcategory = 'A' THEN '[]' ELSE '' END)
          FROM pg_type t JOIN pg_enum e ON e.enumtypid = CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE t.oid END WHERE t.oid = a.atttypid),
        replace(replace(format_type(a.atttypid, a.atttypmod), 'character varying', 'varchar'), ' without time zone', '')),
      a.attnotnull::int, (a.atthasdef OR a.attidentity <> '')::int
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE n.nspname = $1 AND c.relkind IN ('r', 'p'${views ? ", 'v', 'm', 'f'" : ""})
      AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY c.relname, a.attnum`;
}

/** Makes a catalog from the rows of `columnsQuery`. */
export function toCatalog(rows: readonly (readonly unknown[])[]): Catalog {
  const catalog = new Map<string, Map<string, ColumnShape>>();
  for (const [table, column, type, required, hasDefault] of rows) {
    const columns = catalog.get(String(table)) ?? new Map<string, ColumnShape>();
    const shape = { type: String(type), required: Number(required) === 1, hasDefault: Number(hasDefault) === 1 };
    catalog.set(String(table), columns.set(String(column), Object.freeze(shape)));
  }
  return catalog;
}
