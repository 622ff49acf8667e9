import { createClient } from "@libsql/client";
import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import pg from "pg";
import type { EntityLike } from "../../../src/entity/index.ts";
import { type Driver, embedded, postgres, prisma } from "../../../src/index.ts";
import { askPostgres, freshMysql, freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { describePostgres } from "../../support/describe-postgres.ts";
import { generatedClient } from "../../support/generate-client.ts";
import { askMysql } from "../../support/mysql-server.ts";
import type { Database } from "./random-schemas.ts";

/** A database's catalogue, read directly. */
export interface Catalogue {
  readonly url: string;
  /** Names are in double quotes. */
  rows(statement: string): Promise<Record<string, unknown>[]>;
  /** @param schema of PostgreSQL, which is created */
  run(statements: readonly string[], schema: string): Promise<void>;
  /** Numbers of tables and other objects. @param schemas of PostgreSQL */
  counts(schemas: readonly string[]): Promise<Readonly<Record<string, number>>>;
  /** A complete description of the tables. */
  dump(): Promise<string>;
  driverFor(readable: readonly EntityLike[]): Promise<Driver>;
  drop(): Promise<void>;
}

const SQLITE_COUNTS = `select
  (select count(*) from sqlite_master where type in ('table', 'view')) as tables,
  (select count(*) from sqlite_master m join pragma_table_info(m.name) where m.type in ('table', 'view')) as columns,
  (select count(distinct m.name) from sqlite_master m join pragma_table_info(m.name) c where m.type = 'table' and c.pk > 0) as keys,
  (select count(*) from sqlite_master m join pragma_index_list(m.name) i where i."unique" = 1 and i.origin <> 'pk') as uniques,
  (select count(*) from sqlite_master m join pragma_index_list(m.name) i where i."unique" = 0) as indexes,
  (select count(distinct m.name || ' ' || f.id) from sqlite_master m join pragma_foreign_key_list(m.name) f) as "references",
  (select coalesce(sum((length(sql) - length(replace(sql, 'check (', ''))) / 7), 0) from sqlite_master) as others`;

const postgresCounts = (schemas: string): string => `select
  (select count(*)::int from information_schema.tables where table_schema in (${schemas})) as tables,
  (select count(*)::int from information_schema.columns where table_schema in (${schemas})) as columns,
  (select count(*)::int from information_schema.table_constraints where table_schema in (${schemas}) and constraint_type = 'PRIMARY KEY') as keys,
  (select count(*)::int from pg_indexes where schemaname in (${schemas}) and indexdef like 'CREATE UNIQUE%' and indexname not like '%_pkey') as uniques,
  (select count(*)::int from pg_indexes where schemaname in (${schemas}) and indexdef not like 'CREATE UNIQUE%') as indexes,
  (select count(*)::int from information_schema.table_constraints where table_schema in (${schemas}) and constraint_type = 'FOREIGN KEY') as "references",
  (select count(*)::int from pg_constraint k join pg_namespace n on n.oid = k.connamespace where n.nspname in (${schemas}) and k.contype = 'c') as others`;

const IN_SCHEMA = "table_schema = database()";
const MARIADB_COUNTS = `select
  (select count(*) from information_schema.tables where ${IN_SCHEMA}) as tables,
  (select count(*) from information_schema.columns where ${IN_SCHEMA}) as columns,
  (select count(*) from information_schema.table_constraints where ${IN_SCHEMA} and constraint_type = 'PRIMARY KEY') as \`keys\`,
  (select count(*) from information_schema.table_constraints where ${IN_SCHEMA} and constraint_type = 'UNIQUE') as uniques,
  (select count(distinct table_name, index_name) from information_schema.statistics where ${IN_SCHEMA} and non_unique = 1) as indexes,
  (select count(*) from information_schema.table_constraints where ${IN_SCHEMA} and constraint_type = 'FOREIGN KEY') as \`references\`,
  (select count(*) from information_schema.check_constraints where constraint_schema = database() and level = 'Table') as others`;

const MARIADB_DUMP = [
  "select table_name, table_type, table_collation, table_comment from information_schema.tables",
  "select table_name, column_name, column_type, is_nullable, column_default, extra, collation_name from information_schema.columns",
  "select table_name, index_name, seq_in_index, column_name, non_unique from information_schema.statistics",
  "select table_name, constraint_name, constraint_type from information_schema.table_constraints",
  "select table_name, view_definition from information_schema.views",
].map((statement) => `${statement} where ${IN_SCHEMA}`);

/** As a number if it is exact. */
function plainNumber(value: unknown): unknown {
  return typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

async function openSqlite(): Promise<Catalogue> {
  const { file, remove } = await freshSqliteFile();
  const url = `file:${file}`;
  async function rows(statement: string): Promise<Record<string, unknown>[]> {
    const client = createClient({ url, intMode: "bigint" });
    const answer = await client.execute(statement);
    client.close();
    return answer.rows.map((row) =>
      Object.fromEntries(Object.entries(row).map(([column, value]) => [column, plainNumber(value)])),
    );
  }
  return {
    url,
    rows,
    async run(statements) {
      const client = createClient({ url });
      await client.batch([...statements], "write");
      client.close();
    },
    counts: async () => (await rows(SQLITE_COUNTS))[0] as Record<string, number>,
    dump: async () => JSON.stringify(await rows("select * from sqlite_master order by name")),
    driverFor: async () => embedded({ file }),
    drop: remove,
  };
}

async function openPostgres(): Promise<Catalogue> {
  const { url, drop } = await freshPostgres();
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  const rows = async (statement: string) => (await pool.query<Record<string, unknown>>(statement)).rows;
  return {
    url,
    rows,
    async run(statements, schema) {
      await askPostgres(url, `create schema "${schema}"`, `set search_path to "${schema}"`, ...statements);
    },
    counts: async (schemas) =>
      (await rows(postgresCounts(schemas.map((name) => `'${name}'`).join())))[0] as Record<string, number>,
    dump: () => describePostgres({ rows }),
    driverFor: async () => postgres(url),
    async drop() {
      await pool.end();
      await drop();
    },
  };
}

async function openMariadb(): Promise<Catalogue> {
  const { url, drop } = await freshMysql();
  const ask = (...statements: string[]) => askMysql(url, ["set sql_mode = 'ANSI_QUOTES'", ...statements]);
  const rows = async (statement: string) => (await ask(statement)).map((row) => ({ ...row }));
  return {
    url,
    rows,
    run: async (statements) => void (await ask(...statements)),
    async counts() {
      const [found] = await rows(MARIADB_COUNTS);
      return Object.fromEntries(Object.entries(found ?? {}).map(([what, number]) => [what, Number(number)]));
    },
    async dump() {
      const parts: Record<string, unknown>[][] = [];
      for (const statement of MARIADB_DUMP) parts.push(await rows(statement));
      return parts
        .flat()
        .map((row) => Object.values(row).join(" "))
        .sort()
        .join("\n");
    },
    async driverFor(readable) {
      const Client = await generatedClient(readable, "mysql");
      const adapter = new PrismaMariaDb(url);
      return prisma(new Client({ adapter }), { adapter });
    },
    drop,
  };
}

export const openCatalogue: Readonly<Record<Database, () => Promise<Catalogue>>> = {
  SQLite: openSqlite,
  PostgreSQL: openPostgres,
  MariaDB: openMariadb,
};
