import { createClient } from "@libsql/client";
import pg from "pg";
import { type Driver, embedded, memoryDriver, postgres } from "../../src/index.ts";
import type { EntityModel } from "../../src/plugin.ts";
import { withMiddleware } from "../../src/plugin.ts";
import { freshPostgres, freshSqliteFile } from "../support/databases.ts";
import { createCorpusApp, FixedTime } from "./app.ts";

export type StoredRows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** An empty database with direct queries. */
export interface StoredDatabase {
  readonly provider: "sqlite" | "postgresql";
  readonly url: string;
  driver(): Driver;
  run(sql: string): Promise<void>;
  dump(): Promise<StoredRows>;
  restore(rows: StoredRows): Promise<void>;
  drop(): Promise<void>;
}

async function openSqlite(): Promise<StoredDatabase> {
  const { file, remove } = await freshSqliteFile();
  const client = createClient({ url: `file:${file}` });
  const all = async (sql: string) => (await client.execute(sql)).rows as unknown as Record<string, unknown>[];
  return {
    provider: "sqlite",
    url: `file:${file}`,
    driver: () => embedded({ file, push: "off" }),
    run: (sql) => client.executeMultiple(sql),
    async dump() {
      const tables = await all(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`);
      const rows: Record<string, Record<string, unknown>[]> = {};
      for (const name of tables.map((table) => String(table.name)).sort())
        rows[name] = (await all(`select * from "${name}" order by 1, 2`)).map((row) => ({ ...row }));
      return rows;
    },
    async restore(rows) {
      const inserts = Object.entries(rows).flatMap(([table, list]) =>
        list.map((row) => ({
          sql: `insert into "${table}" (${Object.keys(row).map((name) => `"${name}"`)}) values (${Object.keys(row).map(() => "?")})`,
          args: Object.values(row) as never[],
        })),
      );
      await client.execute("pragma foreign_keys = off");
      for (const insert of inserts) await client.execute(insert);
    },
    async drop() {
      client.close();
      await remove();
    },
  };
}

async function openPostgres(): Promise<StoredDatabase> {
  const { url, drop } = await freshPostgres();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    provider: "postgresql",
    url,
    driver: () => postgres(url, { push: "off" }),
    run: async (sql) => void (await client.query(sql)),
    async dump() {
      const { rows: tables } = await client.query(
        "select table_name from information_schema.tables where table_schema = current_schema() order by 1",
      );
      const rows: Record<string, Record<string, unknown>[]> = {};
      for (const { table_name: name } of tables)
        rows[name] = (
          await client.query(
            `select coalesce(json_agg(one order by to_json(one)::text), '[]') as all from "${name}" one`,
          )
        ).rows[0].all;
      return rows;
    },
    async restore(rows) {
      await client.query("set session_replication_role = replica");
      for (const [table, list] of Object.entries(rows))
        await client.query(`insert into "${table}" select * from json_populate_recordset(null::"${table}", $1)`, [
          JSON.stringify(list),
        ]);
    },
    async drop() {
      await client.end();
      await drop();
    },
  };
}

export const STORED_DATABASES = { sqlite: openSqlite, postgresql: openPostgres } as const;

/** The entities of the app and of its plugins. */
export async function corpusModel(): Promise<EntityModel> {
  let model: EntityModel | undefined;
  const driver = memoryDriver();
  const connect: Driver["connect"] = (context) => {
    model = context.model;
    return driver.connect(context);
  };
  const api = createCorpusApp(
    withMiddleware(driver, (statement, next) => next(statement), { connect }),
    new FixedTime(),
  );
  await api.ready;
  await api.close();
  return model as EntityModel;
}
