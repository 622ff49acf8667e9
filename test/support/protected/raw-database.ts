import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createClient } from "@libsql/client";
import pg from "pg";
import { type Driver, embedded, postgres } from "../../../src/index.ts";
import { freshPostgres, freshSqliteFile } from "../databases.ts";

/** A database for one test, with direct access to it. */
export interface RawDatabase {
  /** Creates a driver for it; each call creates a new one. */
  driver(): Driver;
  /** The secret part of the connection string. */
  readonly password: string;
  /** Runs a statement and returns its rows. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** Everything stored, as text: all rows of all tables, and the database files if there are any. */
  dump(): Promise<string>;
  drop(): Promise<void>;
}

async function openSqlite(): Promise<RawDatabase> {
  const { file, remove } = await freshSqliteFile();
  async function query(sql: string): Promise<Record<string, unknown>[]> {
    const client = createClient({ url: `file:${file}` });
    try {
      return (await client.execute(sql)).rows as unknown as Record<string, unknown>[];
    } finally {
      client.close();
    }
  }
  return {
    driver: () => embedded({ file }),
    password: "there is none",
    query,
    async dump() {
      const folder = dirname(file);
      const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "latin1")));
      const tables = await query("SELECT name FROM sqlite_master WHERE type = 'table'");
      const rows = await Promise.all(tables.map(({ name }) => query(`SELECT * FROM "${String(name)}"`)));
      return [JSON.stringify(rows), ...files].join("\n");
    },
    drop: remove,
  };
}

async function openPostgres(): Promise<RawDatabase> {
  const { url, drop } = await freshPostgres();
  const client = new pg.Client({ connectionString: url });
  const withPassword = new URL(url);
  withPassword.password ||= "correct-horse-battery-staple";
  await client.connect();
  const query = async (sql: string): Promise<Record<string, unknown>[]> =>
    (await client.query<Record<string, unknown>>(sql)).rows;
  return {
    driver: () => postgres(withPassword.href),
    password: withPassword.password,
    query,
    async dump() {
      const tables = await query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
      const rows: unknown[] = [];
      for (const { tablename } of tables)
        rows.push(await query(`SELECT "${String(tablename)}"::text FROM "${String(tablename)}"`));
      return JSON.stringify(rows);
    },
    async drop() {
      await client.end();
      await drop();
    },
  };
}

export const RAW_DATABASES: readonly (readonly [string, () => Promise<RawDatabase>])[] = [
  ["SQLite", openSqlite],
  ["PostgreSQL", openPostgres],
];
