import { createClient } from "@libsql/client";
import pg from "pg";
import { type Driver, embedded, postgres } from "../../../src/index.ts";
import { freshPostgres, freshSqliteFile } from "../databases.ts";

/** A database shared by several processes, with direct queries. */
export interface SharedDatabase {
  /** A file, or a connection string. */
  readonly address: string;
  /** Creates a driver for it; each call creates a new one. */
  driver(): Driver;
  query(sql: string): Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

async function openSqlite(): Promise<SharedDatabase> {
  const { file, remove } = await freshSqliteFile();
  return {
    address: file,
    driver: () => embedded({ file }),
    async query(sql) {
      const client = createClient({ url: `file:${file}` });
      try {
        return (await client.execute(sql)).rows.map((row) => ({ ...row }));
      } finally {
        client.close();
      }
    },
    drop: remove,
  };
}

/** An empty PostgreSQL database. */
export async function openPostgres(): Promise<SharedDatabase> {
  const { url, drop } = await freshPostgres();
  return {
    address: url,
    driver: () => postgres(url),
    async query(sql) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        return (await client.query<Record<string, unknown>>(sql)).rows;
      } finally {
        await client.end();
      }
    },
    drop,
  };
}

/** For `describe.each`: SQLite and PostgreSQL, each with a function that opens an empty database. */
export const SHARED_DATABASES: readonly (readonly [string, () => Promise<SharedDatabase>])[] = [
  ["SQLite", openSqlite],
  ["PostgreSQL", openPostgres],
];
