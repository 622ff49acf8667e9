import type { FuzzDatabase } from "./databases.ts";

/** All stored rows: by table and id, or by the complete row if there is no id. */
export type StoredRows = ReadonlyMap<string, string>;

/** Reads all tables directly, and restores them. */
export interface Snapshots {
  /** All rows now. */
  read(): Promise<StoredRows>;
  /** Restores all rows to their state at creation, if they differ. */
  restore(): Promise<void>;
}

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** @param parentsFirst tables in an order in which rows can be inserted */
export async function createSnapshots(database: FuzzDatabase, parentsFirst: readonly string[]): Promise<Snapshots> {
  const tables = await tablesOf(database);
  tables.sort((a, b) => rankIn(parentsFirst, a.name) - rankIn(parentsFirst, b.name));
  const everything = tables.map((table) => selectAll(table, database)).join(" UNION ALL ");
  const seedOf = ({ name }: Table): string => quoted(`seed ${name}`);
  await database.run(tables.map((table) => `CREATE TABLE ${seedOf(table)} AS SELECT * FROM ${quoted(table.name)}`));
  const restoring = [
    ...tables.toReversed().map(({ name }) => `DELETE FROM ${quoted(name)} WHERE 1 = 1`),
    ...tables.map((table) => {
      const list = table.columns.map(quoted).join();
      return `INSERT INTO ${quoted(table.name)} (${list}) SELECT ${list} FROM ${seedOf(table)}`;
    }),
  ];

  async function read(): Promise<StoredRows> {
    const rows = await database.query(everything);
    return new Map(rows.map(({ place, content }) => [String(place), String(content)]));
  }
  const seeded = await read();

  return {
    read,
    async restore() {
      if (changesBetween(seeded, await read()).length > 0) await database.run(restoring);
    },
  };
}

function rankIn(names: readonly string[], name: string): number {
  const rank = names.indexOf(name);
  return rank === -1 ? names.length : rank;
}

async function tablesOf({ name: database, query }: FuzzDatabase): Promise<Table[]> {
  const sql =
    database === "PostgreSQL"
      ? `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
       WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`
      : `SELECT t.name AS "table", c.name AS "column" FROM sqlite_master t, pragma_table_info(t.name) c
       WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.cid`;
  const columns = new Map<string, string[]>();
  for (const { table, column } of await query(sql)) {
    const name = String(table);
    columns.set(name, [...(columns.get(name) ?? []), String(column)]);
  }
  return [...columns].map(([name, list]) => ({ name, columns: list }));
}

/** `table id` and the row as text. */
function selectAll({ name, columns }: Table, database: FuzzDatabase): string {
  const content =
    database.name === "PostgreSQL"
      ? `row_to_json(${quoted(name)})::text`
      : columns.map((column) => `'"${column}":' || quote(${quoted(column)})`).join(` || ',' || `);
  const id = columns.includes("id") ? `"id"` : content;
  return `SELECT '${name} ' || ${id} AS "place", ${content} AS "content" FROM ${quoted(name)}`;
}

/** Rows that were added, removed or changed. */
export function changesBetween(before: StoredRows, after: StoredRows): string[] {
  const places = new Set([...before.keys(), ...after.keys()]);
  return [...places].filter((place) => before.get(place) !== after.get(place));
}
