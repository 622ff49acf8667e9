import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaPg } from "@prisma/adapter-pg";
import { embedded, postgres, prisma } from "../../../src/drivers/prisma/index.ts";
import { createModel } from "../../../src/entity/index.ts";
import { type Driver, noopLogger } from "../../../src/kernel/index.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { testDriver } from "../../support/driver-contract.ts";
import { generatedClient } from "../../support/generate-client.ts";

const context = (entities: Parameters<typeof createModel>[0]) => ({
  model: createModel(entities),
  log: noopLogger,
  production: false,
});

/** Makes the tables, as a migration would. */
async function makeTables(driver: Driver, entities: Parameters<typeof createModel>[0]): Promise<void> {
  await driver.connect(context(entities));
  await driver.schema?.push();
  await driver.disconnect();
}

testDriver("a generated client on SQLite", async (entities) => {
  const { file, remove } = await freshSqliteFile();
  await makeTables(embedded({ file }), entities);
  const Client = await generatedClient(entities, "sqlite");
  const driver = prisma(new Client({ adapter: new PrismaLibSql({ url: `file:${file}` }) }));
  await driver.connect(context(entities));
  return { driver, close: () => driver.disconnect().then(remove) };
});

testDriver("a generated client on PostgreSQL", async (entities) => {
  const { url, drop } = await freshPostgres();
  await makeTables(postgres(url), entities);
  const Client = await generatedClient(entities, "postgresql");
  const driver = prisma(new Client({ adapter: new PrismaPg({ connectionString: url }) }));
  await driver.connect(context(entities));
  return { driver, close: () => driver.disconnect().then(drop) };
});
