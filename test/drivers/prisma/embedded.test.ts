import { embedded } from "../../../src/drivers/prisma/index.ts";
import { connectDriver } from "../../support/connect-driver.ts";
import { freshSqliteFile } from "../../support/databases.ts";
import { testDriver } from "../../support/driver-contract.ts";

testDriver("embedded", async (entities) => {
  const { file, remove } = await freshSqliteFile();
  const driver = await connectDriver(embedded({ file }), entities);
  return { driver, close: () => driver.disconnect().then(remove) };
});
