import { PrismaLibSql } from "@prisma/adapter-libsql";
import { PrismaPg } from "@prisma/adapter-pg";
import { embedded, postgres, prisma } from "../../../src/drivers/prisma/index.ts";
import { connectDriver, makeTables } from "../../support/connect-driver.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { emptierOfPostgres, emptierOfSqlite } from "../../support/driver-contract/emptiers.ts";
import { testDriver } from "../../support/driver-contract.ts";
import { generatedClient } from "../../support/generate-client.ts";

testDriver(
  "a client's adapter on SQLite",
  async (entities) => {
    const { file, remove } = await freshSqliteFile();
    await makeTables(embedded({ file }), entities);
    const Client = await generatedClient(entities, "sqlite");
    const adapter = new PrismaLibSql({ url: `file:${file}` });
    const driver = await connectDriver(prisma(new Client({ adapter }), { adapter }), entities);
    const { empty, end } = emptierOfSqlite(file);
    return { driver, empty, close: () => Promise.all([driver.disconnect(), end()]).then(remove) };
  },
  { turn: 1 },
);

testDriver(
  "a client's adapter on PostgreSQL",
  async (entities) => {
    const { url, drop } = await freshPostgres();
    await makeTables(postgres(url), entities);
    const Client = await generatedClient(entities, "postgresql");
    const adapter = new PrismaPg({ connectionString: url });
    const driver = await connectDriver(prisma(new Client({ adapter }), { adapter }), entities);
    const { empty, end } = await emptierOfPostgres(url);
    return { driver, empty, close: () => Promise.all([driver.disconnect(), end()]).then(drop) };
  },
  { turn: 0 },
);
