import { embedded } from "../../../src/drivers/prisma/index.ts";
import { createModel } from "../../../src/entity/index.ts";
import { noopLogger } from "../../../src/kernel/index.ts";
import { freshSqliteFile } from "../../support/databases.ts";
import { testDriver } from "../../support/driver-contract.ts";

testDriver("embedded", async (entities) => {
  const { file, remove } = await freshSqliteFile();
  const driver = embedded({ file });
  await driver.connect({ model: createModel(entities), log: noopLogger, production: false });
  await driver.schema?.push();
  return {
    driver,
    async close() {
      await driver.disconnect();
      await remove();
    },
  };
});
