import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEmbedded } from "../../../src/drivers/prisma/embedded/embedded.ts";
import { openPostgres } from "../../../src/drivers/prisma/embedded/postgres.ts";
import { ALL_FAST, type Fast } from "../../../src/drivers/sql/index.ts";
import { type AnyEntity, createModel } from "../../../src/entity/index.ts";
import { ALWAYS, type Driver, type Find, type Row } from "../../../src/gate/index.ts";
import { belongsTo, datetime, entity, keelson, noopLogger, string } from "../../../src/index.ts";
import { connectDriver } from "../../support/connect-driver.ts";
import { freshPostgres, freshSqliteFile } from "../../support/databases.ts";
import { randomBlog } from "../../support/driver-contract/arbitraries.ts";
import { everything } from "../../support/driver-contract/database.ts";
import { outcomeOf, plantRandom, randomRead, randomWrite } from "../../support/driver-contract/operations.ts";
import { fixtureEntities } from "../../support/entities.ts";
import { propertyOptions } from "../../support/properties.ts";

/** Milliseconds. Each example runs a few dozen statements. */
const PATIENCE = 120_000;

const city = entity("city", { name: string, deletedAt: datetime.optional() })
  .softDelete()
  .timestamps(false)
  .rules({ read: ["everyone"] });
const person = entity("person", { name: string, born: datetime, home: belongsTo(() => city).optional() })
  .timestamps(false)
  .rules({ read: ["everyone"] });
const entities = [...fixtureEntities, city, person];
const people = createModel([city, person]).get("person") as AnyEntity;
const everybody = (driver: Driver) => driver.deleteMany("person", { id: { ne: "" } });
const named = (id: string, born = new Date(0)): Row => ({ id, name: `name of ${id}`, born, homeId: null });

interface Place {
  open(fast: Fast): Driver;
  drop(): Promise<void>;
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  async SQLite() {
    const { file, remove } = await freshSqliteFile();
    return { open: (fast) => openEmbedded({ file }, fast), drop: remove };
  },
  async PostgreSQL() {
    const { url, drop } = await freshPostgres();
    return { open: (fast) => openPostgres(url, { poolSize: 4 }, fast), drop };
  },
};

const NONE = Object.fromEntries(Object.keys(ALL_FAST).map((name) => [name, false])) as unknown as Fast;
const SWITCHED: readonly (readonly [string, Fast])[] = [
  ...Object.keys(ALL_FAST).map((name) => [name, { ...ALL_FAST, [name]: false }] as const),
  ["any of them", NONE],
];

const IDS = ["p0", "p1", "p2"];
/** Simultaneous writes that do not block each other. */
const apart = fc.array(fc.record({ title: fc.string({ maxLength: 9 }), views: fc.nat(99) }), {
  minLength: IDS.length,
  maxLength: IDS.length,
});
const moments = fc.uniqueArray(
  fc.date({ min: new Date("0001-01-01T00:00:00Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true }),
  { minLength: 1, maxLength: 8, selector: Number },
);

describe.each(Object.keys(PLACES))("special cases for speed on %s", (name) => {
  let place: Place;
  let quick: Driver;

  beforeAll(async () => {
    place = await (PLACES[name] as () => Promise<Place>)();
    quick = await connectDriver(place.open(ALL_FAST), entities);
  });
  afterAll(async () => {
    await quick.disconnect();
    await place.drop();
  });

  describe.each(SWITCHED)("without %s", (_name, fast) => {
    let plain: Driver;
    beforeAll(async () => {
      plain = await connectDriver(place.open(fast), entities);
    });
    afterAll(() => plain.disconnect());

    it("simultaneous reads return the same results", { timeout: PATIENCE }, async () => {
      await fc.assert(
        fc.asyncProperty(randomBlog, fc.array(randomRead, { minLength: 3, maxLength: 6 }), async (blog, reads) => {
          await plantRandom(quick, blog);
          const [expected, found] = await Promise.all(
            [quick, plain].map((driver) => Promise.all(reads.map((read) => outcomeOf(read, driver)))),
          );
          expect(found).toEqual(expected);
          const byId = (driver: Driver) =>
            Promise.all([...IDS, "p0", "nope"].map((id) => driver.findOne("post", { id, published: true })));
          expect(await byId(plain)).toEqual(await byId(quick));
        }),
        propertyOptions(10),
      );
    });

    it("writes change the same records and are refused alike", { timeout: PATIENCE }, async () => {
      await fc.assert(
        fc.asyncProperty(randomBlog, randomWrite, apart, async (blog, write, changes) => {
          const outcomes: unknown[] = [];
          for (const driver of [quick, plain]) {
            await plantRandom(quick, blog);
            const one = await outcomeOf(write, driver);
            const several = await Promise.all(IDS.map((id, i) => driver.update("post", { id }, { ...changes[i] })));
            await everybody(quick);
            const created = await Promise.all(IDS.map((id) => driver.create("person", named(id))));
            outcomes.push([one, several, created, await everything(quick), await quick.findMany("person")]);
          }
          expect(outcomes[1]).toEqual(outcomes[0]);
        }),
        propertyOptions(10),
      );
    });

    it("datetimes are the same, as dates and in JSON", { timeout: PATIENCE }, async () => {
      await fc.assert(
        fc.asyncProperty(moments, async (dates) => {
          await everybody(quick);
          await quick.createMany(
            "person",
            dates.map((born, i) => named(`b${i}`, born)),
          );
          const find = { kind: "find", entity: people, where: ALWAYS } as const;
          const read = (driver: Driver, textMoments: boolean) => driver.execute<Find>({ ...find, textMoments });
          expect(await read(plain, false)).toEqual(await read(quick, false));
          expect(JSON.stringify(await read(plain, true))).toBe(JSON.stringify(await read(quick, true)));
        }),
        propertyOptions(10),
      );
    });

    it("lists with a related record show the same", async () => {
      await everybody(quick);
      await quick.deleteMany("city", { id: { ne: "" } });
      await quick.createMany("city", [
        { id: "c1", name: "shown", deletedAt: null },
        { id: "c2", name: "hidden", deletedAt: new Date(0) },
      ]);
      const homes = ["c1", "c2", null, "c1"];
      await quick.createMany(
        "person",
        homes.map((homeId, i) => ({ ...named(`h${i}`), homeId })),
      );
      const shown: unknown[] = [];
      for (const one of [ALL_FAST, fast]) {
        const app = keelson({ entities, driver: place.open(one), logger: noopLogger });
        await app.ready;
        const url = "/api/people?include=home&_sort=name";
        shown.push((await app.handle({ method: "GET", url, headers: {} })).body);
        await app.close();
      }
      expect(shown[1]).toEqual(shown[0]);
      expect(String(shown[0])).toContain('"shown"');
      expect(String(shown[0])).not.toContain('"hidden"');
    });
  });
});
