import { postgres } from "../../../src/drivers/prisma/index.ts";
import { connectDriver } from "../../support/connect-driver.ts";
import { freshPostgres } from "../../support/databases.ts";
import { testDriver } from "../../support/driver-contract.ts";

testDriver("postgres", async (entities) => {
  const { url, drop } = await freshPostgres();
  const driver = await connectDriver(postgres(url), entities);
  return { driver, close: () => driver.disconnect().then(drop) };
});
