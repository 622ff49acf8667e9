import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../src/drivers/memory/index.ts";
import { ConfigurationError, createModel, type EntityLike } from "../../src/entity/index.ts";
import { type Driver, noopLogger, type Row } from "../../src/kernel/index.ts";
import { testDriver } from "../support/driver-contract.ts";
import { fixtureEntities } from "../support/entities.ts";

async function connected(driver: Driver, entities: readonly EntityLike[] = fixtureEntities): Promise<Driver> {
  await driver.connect({ model: createModel(entities), log: noopLogger, production: false });
  return driver;
}

testDriver("memory", async (entities) => {
  const driver = await connected(memoryDriver(), entities);
  return { driver, close: () => driver.disconnect() };
});
