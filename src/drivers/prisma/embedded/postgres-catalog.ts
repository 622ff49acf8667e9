import type { Pool } from "pg";
import { type Catalog, type CatalogRow, toCatalog } from "../schema/catalog.ts";

/** The tables of a schema of PostgreSQL. */
export async function postgresCatalog(pool: Pool, schema: string): Promise<Catalog> {
  const { rows } = await pool.query<CatalogRow>(
    `SELECT c.relname::text AS table, a.attname::text AS column, a.attnotnull AS required,
       replace(replace(format_type(a.atttypid, a.atttypmod), 'character varying', 'varchar'), ' without time zone', '')
         AS type
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
     ORDER BY c.relname, a.attnum`,
    [schema],
  );
  return toCatalog(rows);
}
