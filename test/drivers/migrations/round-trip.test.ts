import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { embedded, postgres } from "../../../src/drivers/prisma/index.ts";
import type { EntityLike } from "../../../src/entity/index.ts";
import type { Driver } from "../../../src/kernel/index.ts";
import { driverContext } from "../../support/connect-driver.ts";
import { type Definitions, definitionPairs, entitiesOf, keptRowsOf, rowsOf } from "../../support/definition-pairs.ts";
import { MIGRATION_PLACES, type MigrationPlace } from "../../support/migration-databases.ts";
import { propertyOptions } from "../../support/properties.ts";

const RUNS = 30;

async function withDriver<T>(
  { target }: MigrationPlace,
  entities: readonly EntityLike[],
  work: (driver: Driver) => Promise<T>,
): Promise<T> {
  const driver =
    target.provider === "sqlite"
      ? embedded({ file: target.url.slice("file:".length), push: "off" })
      : postgres(target.url, { push: "off" });
  await driver.connect(driverContext(entities));
  try {
    return await work(driver);
  } finally {
    await driver.disconnect();
  }
}

/** Writes and applies the migration to the definitions, after which nothing may be left to do. */
async function migrate(place: MigrationPlace, definitions: Definitions, isLast: boolean): Promise<void> {
  const migrations = await place.open(entitiesOf(definitions));
  await migrations.create("step", { acceptDataLoss: true });
  await migrations.deploy();
  expect(await migrations.status()).toMatchObject({ pending: [], failed: [], drift: [] });
  expect((await migrations.diff()).isEmpty).toBe(true);
  if (isLast) expect(await migrations.create("nothing")).toBeUndefined();
  await migrations.close();
}

describe.each(MIGRATION_PLACES)("any two definitions on %s", (_, open) => {
  it("are one migration apart, after which the database is as the second says, and every value that it knows is still there", {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(definitionPairs, async ({ before, after }) => {
        const place = await open();
        try {
          await migrate(place, before, false);
          await withDriver(place, entitiesOf(before), async (driver) => {
            for (const [entity, row] of rowsOf(before)) await driver.create(entity, row);
          });
          await migrate(place, after, true);
          await withDriver(place, entitiesOf(after), async (driver) => {
            for (const [entity, row] of keptRowsOf(before, after))
              expect(await driver.findMany(entity), entity).toEqual([row]);
          });
        } finally {
          await place.drop();
        }
      }),
      propertyOptions(RUNS),
    );
  });
});
