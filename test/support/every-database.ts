import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { prisma, toPrismaSchema } from "../../src/drivers/prisma/index.ts";
import type { EntityLike } from "../../src/index.ts";
import { freshMysql } from "./databases.ts";
import { generatedClient } from "./generate-client.ts";
import { askMysql, whyNoMysql } from "./mysql-server.ts";
import { mysqlTables } from "./mysql-tables.ts";
import { ALL_DATABASES, type TestDatabase } from "./sql-databases.ts";

async function openMariadb(entities: readonly EntityLike[], isDirect: boolean): Promise<TestDatabase> {
  const { url, drop } = await freshMysql();
  await askMysql(url, mysqlTables(toPrismaSchema(entities, { provider: "mysql" })));
  const Client = await generatedClient(entities, "mysql");
  const adapter = new PrismaMariaDb(url);
  return { driver: prisma(new Client({ adapter }), isDirect ? { adapter } : {}), url, drop };
}

const noMysql = await whyNoMysql();

/** For `describe.each`: memory, SQLite, PostgreSQL, and MariaDB where it runs, in SQL and through a PrismaClient. */
export function everyDatabase(
  entities: readonly EntityLike[],
): readonly (readonly [string, () => Promise<TestDatabase>])[] {
  if (noMysql !== undefined) return ALL_DATABASES;
  return [
    ...ALL_DATABASES,
    ["MariaDB", () => openMariadb(entities, true)],
    ["MariaDB through a client", () => openMariadb(entities, false)],
  ];
}
