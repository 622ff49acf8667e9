import { createModel, type EntityLike } from "../../src/entity/index.ts";
import type { Driver, DriverContext } from "../../src/gate/index.ts";
import { noopLogger } from "../../src/kernel/index.ts";

/** What an app passes to its driver. */
export function driverContext(entities: readonly EntityLike[], change: Partial<DriverContext> = {}): DriverContext {
  return { model: createModel(entities), log: noopLogger, production: false, ...change };
}

/** Connects a driver and creates its tables, as starting an app does. */
export async function connectDriver(driver: Driver, entities: readonly EntityLike[]): Promise<Driver> {
  await driver.connect(driverContext(entities));
  try {
    await driver.schema?.push();
  } catch (error) {
    await driver.disconnect();
    throw error;
  }
  return driver;
}

/** Creates tables without keeping a connection, as a migration does. */
export async function makeTables(driver: Driver, entities: readonly EntityLike[]): Promise<void> {
  await connectDriver(driver, entities);
  await driver.disconnect();
}
