import type { SqlDatabase } from "./sql-databases.ts";

const OWN = "n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'";

/** Describes the tables of a PostgreSQL database as text. @param except tables to leave out */
export async function describePostgres(
  { rows }: Pick<SqlDatabase, "rows">,
  except: readonly string[] = [],
): Promise<string> {
  const asked = [
    `SELECT n.nspname, c.relname, c.relkind, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull, a.attidentity, a.attgenerated,
       pg_get_expr(d.adbin, d.adrelid) AS value, obj_description(c.oid, 'pg_class') AS comment
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
       LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
     WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND ${OWN} ORDER BY 1, 2, a.attnum`,
    `SELECT n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid) AS text FROM pg_constraint k
       JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${OWN} ORDER BY 1, 2, 3`,
    `SELECT n.nspname, c.relname, pg_get_indexdef(i.indexrelid) AS text FROM pg_index i
       JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${OWN} ORDER BY 1, 2, 3`,
    `SELECT n.nspname, c.relname, pg_get_viewdef(c.oid) AS text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE c.relkind IN ('v', 'm') AND ${OWN} ORDER BY 1, 2`,
  ];
  const found: unknown[] = [];
  for (const sql of asked) found.push((await rows(sql)).filter(({ relname }) => !except.includes(String(relname))));
  return JSON.stringify(found, null, 1);
}
