import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { prisma, toPrismaSchema } from "../../src/drivers/prisma/index.ts";
import type { EntityLike } from "../../src/index.ts";
import { freshMysql } from "./databases.ts";
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
 * For `describe.each`: memory, SQLite, PostgreSQL, and MariaDB where it runs, in SQL or through a PrismaClient.
 * @param turn A number of the file: it is one of the two ways to MariaDB, and both in the long suite.
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
