import { createClient } from "@libsql/client";
import pg from "pg";
import { type Driver, embedded, postgres } from "../../../src/index.ts";
import { freshPostgres, freshSqliteFile } from "../databases.ts";

/** A database of its own, and a connection to it past the framework. */
export interface FuzzDatabase {
  readonly name: "SQLite" | "PostgreSQL";
  readonly driver: Driver;
  query(sql: string): Promise<Record<string, unknown>[]>;
  /** Runs statements one after the other, all of them or none. */
  run(statements: readonly string[]): Promise<void>;
  /** Where it is, which nobody may see. */
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
