import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import { type Catalog, columnsQuery, toCatalog } from "../schema/catalog.ts";
import { run } from "./sqlite-adapter.ts";

/** The tables of a SQLite file. */
export async function sqliteCatalog(adapter: SqlDriverAdapter): Promise<Catalog> {
  return toCatalog((await run(adapter, columnsQuery("sqlite", false))).rows);
}
