import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import { type Catalog, toCatalog } from "../schema/catalog.ts";
import { run } from "./sqlite-adapter.ts";

/** The tables of a SQLite file. */
export async function sqliteCatalog(adapter: SqlDriverAdapter): Promise<Catalog> {
  const { rows } = await run(
    adapter,
    `SELECT m.name, c.name, lower(c.type), c."notnull" FROM sqlite_master m JOIN pragma_table_info(m.name) c
     WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, c.cid`,
  );
  return toCatalog(
    rows.map(([table, column, type, required]) => ({
      table: String(table),
      column: String(column),
      type: String(type),
      required: Number(required) === 1,
    })),
  );
}
