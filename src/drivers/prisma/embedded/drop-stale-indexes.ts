import type { Pool } from "pg";
import { LIVE_SUFFIX } from "../schema/live-unique.ts";

/**
 * Statements that drop indexes over live records that no entity asks for any more. The schema engine, told nothing of indexes over some
 * of the rows, would take one for an index over all of them that has another name.
 * @param ours names of the tables that entities describe
 * @param wanted names of the indexes that they ask for
 */
export async function dropStaleIndexes(
  pool: Pool,
  schema: string,
  ours: readonly string[],
  wanted: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ sql: string }>(
    `SELECT format('DROP INDEX %I', c.relname) AS sql
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND t.relname = ANY($2) AND i.indpred IS NOT NULL
       AND right(c.relname, length($3)) = $3 AND NOT c.relname = ANY($4)`,
    [schema, ours, LIVE_SUFFIX, wanted],
  );
  return rows.map(({ sql }) => sql);
}
