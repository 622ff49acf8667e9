import type { Pool } from "pg";
import { type Catalog, columnsQuery, toCatalog } from "../schema/catalog.ts";

/** The tables of a schema of PostgreSQL. */
export async function postgresCatalog(pool: Pool, schema: string): Promise<Catalog> {
  const text = columnsQuery("postgresql", false);
  return toCatalog((await pool.query<unknown[]>({ text, values: [schema], rowMode: "array" })).rows);
}
