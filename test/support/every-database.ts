import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { PrismaPg } from "@prisma/adapter-pg";
import { embedded, postgres, prisma, toPrismaSchema } from "../../src/drivers/prisma/index.ts";
import type { EntityLike } from "../../src/index.ts";
import { makeTables } from "./connect-driver.ts";
import { freshMysql, freshPostgres, freshSqliteFile } from "./databases.ts";
import { generatedClient } from "./generate-client.ts";
import { askMysql, whyNoMysql } from "./mysql-server.ts";
import { mysqlTables } from "./mysql-tables.ts";
import { ALL_DATABASES, type TestDatabase } from "./sql-databases.ts";
import { oneOf } from "./suite.ts";

async function openMariadb(entities: readonly EntityLike[], isDirect: boolean): Promise<TestDatabase> {
  const { url, drop } = await freshMysql();
  await askMysql(url, mysqlTables(toPrismaSchema(entities, { provider: "mysql" })));
  const Client = await generatedClient(entities, "mysql");
  const adapter = new PrismaMariaDb(url);
  return { driver: prisma(new Client({ adapter }), isDirect ? { adapter } : {}), url, drop };
}

const noMysql = await whyNoMysql();

/**
 * For `describe.each`: memory, SQLite, PostgreSQL, and MariaDB if it runs, through SQL or a PrismaClient.
 * @param turn A number of the file: it selects one of the two ways to MariaDB; the long suite uses both.
 */
export function everyDatabase(
  entities: readonly EntityLike[],
  turn: number,
): readonly (readonly [string, () => Promise<TestDatabase>])[] {
  if (noMysql !== undefined) return ALL_DATABASES;
  const ways = [
    ["MariaDB", () => openMariadb(entities, true)],
    ["MariaDB through a client", () => openMariadb(entities, false)],
  ] as const;
  return [...ALL_DATABASES, ...oneOf(turn, ways)];
}

async function openSqliteClient(entities: readonly EntityLike[]): Promise<TestDatabase> {
  const { file, remove } = await freshSqliteFile();
  await makeTables(embedded({ file }), entities);
  const Client = await generatedClient(entities, "sqlite");
  const url = `file:${file}`;
  return { driver: prisma(new Client({ adapter: new PrismaLibSql({ url }) })), url, drop: remove };
}

async function openPostgresClient(entities: readonly EntityLike[]): Promise<TestDatabase> {
  const { url, drop } = await freshPostgres();
  await makeTables(postgres(url), entities);
  const Client = await generatedClient(entities, "postgresql");
  return { driver: prisma(new Client({ adapter: new PrismaPg({ connectionString: url }) })), url, drop };
}

/** The same, plus PrismaClients of SQLite and PostgreSQL. */
export function everyWay(
  entities: readonly EntityLike[],
  turn: number,
): readonly (readonly [string, () => Promise<TestDatabase>])[] {
  return [
    ...everyDatabase(entities, turn),
    ["SQLite through a client", () => openSqliteClient(entities)],
    ["PostgreSQL through a client", () => openPostgresClient(entities)],
  ];
}
