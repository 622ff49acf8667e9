import { createClient } from "@libsql/client";
import pg from "pg";
import { type Driver, embedded, memoryDriver, postgres } from "../../src/index.ts";
import { freshPostgres, freshSqliteFile } from "./databases.ts";

/** A database for one test, with direct queries. */
export interface SqlDatabase {
  readonly driver: Driver;
  /** For the test's own connections. */
  readonly url: string;
  rows(statement: string): Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

async function openSqlite(): Promise<SqlDatabase> {
  const { file, remove } = await freshSqliteFile();
  return {
    driver: embedded({ file }),
    url: `file:${file}`,
    async rows(statement) {
      const client = createClient({ url: `file:${file}` });
      const { rows } = await client.execute(statement);
      client.close();
      return rows.map((row) => ({ ...row }));
    },
    drop: remove,
  };
}

async function openPostgres(): Promise<SqlDatabase> {
  const { url, drop } = await freshPostgres();
  return {
    driver: postgres(url),
    url,
    async rows(statement) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const { rows } = await client.query<Record<string, unknown>>(statement);
      await client.end();
      return rows;
    },
    drop,
  };
}

/** For `describe.each`: SQLite and PostgreSQL, each with a function that opens an empty database. */
export const SQL_DATABASES: readonly (readonly [string, () => Promise<SqlDatabase>])[] = [
  ["SQLite", openSqlite],
  ["PostgreSQL", openPostgres],
];

/** A database for one test, also in memory. A database with an address accepts other connections. */
export type TestDatabase = Pick<SqlDatabase, "driver" | "drop"> & { readonly url: string | undefined };

/** For `describe.each`: memory, SQLite and PostgreSQL. */
export const ALL_DATABASES: readonly (readonly [string, () => Promise<TestDatabase>])[] = [
  ["memory", async () => ({ driver: memoryDriver(), url: undefined, drop: async () => {} })],
  ...SQL_DATABASES,
];
