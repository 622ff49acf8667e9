import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { embedded, postgres } from "../../../src/drivers/prisma/index.ts";
import type { Driver, Row } from "../../../src/gate/index.ts";
import { driverContext } from "../../support/connect-driver.ts";
import {
  type Contents,
  type Definitions,
  entitiesOf,
  fullContents,
  histories,
  keptContents,
  STEPS,
} from "../../support/definition-pairs.ts";
import { MIGRATION_PLACES, type MigrationPlace } from "../../support/migration-databases.ts";
import { propertyOptions } from "../../support/properties.ts";

const PAIRS = 30;
const NOTHING: Contents = { rows: new Map(), pairs: new Set() };

/** Writes and applies the migration to the definitions, after which no difference may remain. */
async function migrate(place: MigrationPlace, definitions: Definitions): Promise<void> {
  const migrations = await place.open(entitiesOf(definitions));
  const created = await migrations.create("step", { acceptDataLoss: true });
  expect((await migrations.deploy()).applied).toHaveLength(created === undefined ? 0 : 1);
  expect((await migrations.diff()).isEmpty).toBe(true);
  await migrations.close();
}

async function withDriver(
  { target }: MigrationPlace,
  definitions: Definitions,
  work: (driver: Driver) => Promise<void>,
) {
  const driver =
    target.provider === "sqlite"
      ? embedded({ file: target.url.slice("file:".length), push: "off" })
      : postgres(target.url, { push: "off" });
  await driver.connect(driverContext(entitiesOf(definitions)));
  try {
    await work(driver);
  } finally {
    await driver.disconnect();
  }
}

/** Inserts the rows that the second contents have in addition to the first. */
async function write(driver: Driver, definitions: Definitions, from: Contents, to: Contents): Promise<void> {
  for (const { key, name } of definitions) {
    const { id, ...values } = to.rows.get(key) as Row;
    await (from.rows.has(key) ? driver.update(name, { id }, values) : driver.create(name, { id, ...values }));
  }
  for (const { key, name, relations } of definitions)
    for (const { key: link, name: relation, target } of relations)
      if (to.pairs.has(link) && !from.pairs.has(link)) await driver.link(name, relation, `row${key}`, [`row${target}`]);
}

async function check(driver: Driver, definitions: Definitions, { rows, pairs }: Contents): Promise<void> {
  for (const { key, name, relations } of definitions) {
    const row = rows.get(key);
    expect(await driver.findMany(name), name).toEqual(row === undefined ? [] : [row]);
    for (const { key: link, type, name: relation, target } of relations)
      if (type === "manyToMany")
        expect(await driver.links(name, relation, [`row${key}`]), `${name}.${relation}`).toEqual(
          pairs.has(link) ? [{ source: `row${key}`, target: `row${target}` }] : [],
        );
  }
}

describe.each(MIGRATION_PLACES)("any two definitions on %s", (_, open) => {
  it("need one migration, after which the tables match and kept values are still there", {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const place = await open();
        try {
          let contents = NOTHING;
          let before: Definitions = [];
          for (const definitions of history) {
            await migrate(place, definitions);
            const kept = keptContents(before, definitions, contents);
            contents = fullContents(definitions, kept);
            await withDriver(place, definitions, async (driver) => {
              await check(driver, definitions, kept);
              await write(driver, definitions, kept, contents);
            });
            before = definitions;
          }
          const migrations = await place.open(entitiesOf(before));
          expect(await migrations.create("nothing")).toBeUndefined();
          expect(await migrations.status()).toMatchObject({ pending: [], failed: [], missing: [], drift: [] });
        } finally {
          await place.drop();
        }
      }),
      propertyOptions(PAIRS / STEPS),
    );
  });
});
