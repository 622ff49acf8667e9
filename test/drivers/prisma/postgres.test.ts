import { postgres } from "../../../src/drivers/prisma/index.ts";
import { createModel } from "../../../src/entity/index.ts";
import { noopLogger } from "../../../src/kernel/index.ts";
import { freshPostgres } from "../../support/databases.ts";
import { testDriver } from "../../support/driver-contract.ts";

testDriver("postgres", async (entities) => {
  const { url, drop } = await freshPostgres();
  const driver = postgres(url);
  await driver.connect({ model: createModel(entities), log: noopLogger, production: false });
  await driver.schema?.push();
  return {
    driver,
    async close() {
      await driver.disconnect();
      await drop();
    },
  };
});
