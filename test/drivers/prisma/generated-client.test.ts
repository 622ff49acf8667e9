import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaPg } from "@prisma/adapter-pg";
import { embedded, postgres, prisma } from "../../../src/drivers/prisma/index.ts";
import { connectDriver, makeTables } from "../../support/connect-driver.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { emptierOfPostgres, emptierOfSqlite } from "../../support/driver-contract/emptiers.ts";
import { testDriver } from "../../support/driver-contract.ts";
import { generatedClient } from "../../support/generate-client.ts";

testDriver(
  "a generated client on SQLite",
  async (entities) => {
    const { file, remove } = await freshSqliteFile();
    await makeTables(embedded({ file }), entities);
    const Client = await generatedClient(entities, "sqlite");
    const driver = prisma(new Client({ adapter: new PrismaLibSql({ url: `file:${file}` }) }));
    await connectDriver(driver, entities);
    const { empty, end } = emptierOfSqlite(file);
    return { driver, empty, close: () => Promise.all([driver.disconnect(), end()]).then(remove) };
  },
  { turn: 0 },
);

testDriver(
  "a generated client on PostgreSQL",
  async (entities) => {
    const { url, drop } = await freshPostgres();
    await makeTables(postgres(url), entities);
    const Client = await generatedClient(entities, "postgresql");
    const driver = prisma(new Client({ adapter: new PrismaPg({ connectionString: url }) }));
    await connectDriver(driver, entities);
    const { empty, end } = await emptierOfPostgres(url);
    return { driver, empty, close: () => Promise.all([driver.disconnect(), end()]).then(drop) };
  },
  { turn: 1 },
);
