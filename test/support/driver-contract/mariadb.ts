import { PrismaMariaDb } from "@prisma/adapter-mariadb";
import { prisma, toPrismaSchema } from "../../../src/drivers/prisma/index.ts";
import type { Driver } from "../../../src/gate/index.ts";
import { freshMysql } from "../databases.ts";
import { fixtureEntities } from "../entities.ts";
import { generatedClient } from "../generate-client.ts";
import { askMysql } from "../mysql-server.ts";
import { mysqlTables } from "../mysql-tables.ts";
import { emptyStatements } from "./database.ts";

/** A database with tables. */
async function createTables(collation?: string) {
  const { url, drop } = await freshMysql();
  await askMysql(url, mysqlTables(toPrismaSchema(fixtureEntities, { provider: "mysql" }), collation));
  return { url, drop };
}

/** The database of tests that change no table: creating one takes longer than most of them. */
let shared: ReturnType<typeof createTables> | undefined;

/** Opens the shared database. */
export async function openShared() {
  shared ??= createTables();
  const { url } = await shared;
  return await open(url, () => askMysql(url, emptyStatements("`")).then(() => undefined));
}

/** Opens a database that a test may change. */
export async function openOwn(collation?: string) {
  const { url, drop } = await createTables(collation);
  return await open(url, drop);
}

/** A database, and a driver over a generated client that is not yet connected. */
async function open(url: string, drop: () => Promise<void>) {
  const Client = await generatedClient(fixtureEntities, "mysql");
  const driverAt = (at: string, isDirect = false): Driver => {
    const adapter = new PrismaMariaDb(at);
    return prisma(new Client({ adapter }), isDirect ? { adapter } : {});
  };
  return { url, drop, driverAt };
}

/** Drops the shared database, if there is one. */
export async function dropShared(): Promise<void> {
  await (await shared)?.drop();
}
