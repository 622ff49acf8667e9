import { createClient } from "@libsql/client";
import pg from "pg";
import { type Driver, embedded, postgres } from "../../../src/index.ts";
import { freshPostgres, freshSqliteFile } from "../databases.ts";

/** A database for one test, and a direct connection to it. */
export interface FuzzDatabase {
  readonly name: "SQLite" | "PostgreSQL";
  readonly driver: Driver;
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** Runs statements in one transaction. */
  run(statements: readonly string[]): Promise<void>;
  /** Its location, which no caller may see. */
  readonly place: string;
  drop(): Promise<void>;
}

async function openSqlite(): Promise<FuzzDatabase> {
  const { file, remove } = await freshSqliteFile();
  const client = createClient({ url: `file:${file}` });
  return {
    name: "SQLite",
    driver: embedded({ file }),
    query: async (sql) => (await client.execute(sql)).rows as unknown as Record<string, unknown>[],
    run: async (statements) => void (await client.batch([...statements], "write")),
    place: file,
    async drop() {
      client.close();
      await remove();
    },
  };
}

async function openPostgres(): Promise<FuzzDatabase> {
  const { url, drop } = await freshPostgres();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    name: "PostgreSQL",
    driver: postgres(url),
    query: async (sql) => (await client.query<Record<string, unknown>>(sql)).rows,
    run: async (statements) => void (await client.query(statements.join(";"))),
    place: new URL(url).pathname.slice(1),
    async drop() {
      await client.end();
      await drop();
    },
  };
}

export const FUZZ_DATABASES: readonly (readonly [FuzzDatabase["name"], () => Promise<FuzzDatabase>])[] = [
  ["SQLite", openSqlite],
  ["PostgreSQL", openPostgres],
];
