import assert from "node:assert/strict";
import type { AnyEntity } from "../../entity/index.ts";
import { compileWhere, type FindManyQuery, type Row, type Where } from "../../gate/index.ts";
import { type DriverCase, expectRefusal } from "./driver-case.ts";
import { DUNE } from "./library.ts";

const ALL = ["b1", "b2", "b3", "b4"];

/** Conditions on books, and the matching books. */
const CONDITIONS: Readonly<Record<string, readonly (readonly [where: Where, ids: readonly string[]])[]>> = {
  "no condition, and logic without parts": [
    [{}, ALL],
    [{ AND: [] }, ALL],
    [{ OR: [] }, []],
    [{ NOT: {} }, []],
  ],
  "equality, in which case matters": [
    [{ title: "Dune" }, ["b1"]],
    [{ title: { eq: "dune" } }, []],
    [{ pages: 412 }, ["b1", "b4"]],
    [{ rating: 4.5 }, ["b1", "b3"]],
    [{ out: false }, ["b2", "b3"]],
    [{ releasedAt: new Date("1965-08-01T00:00:00.001Z") }, ["b1"]],
    [{ releasedAt: new Date("1965-08-01T00:00:00.000Z") }, []],
    [{ pages: 412, title: "Zen" }, ["b4"]],
  ],
  "ne and nin, which null satisfies unless it is listed": [
    [{ rating: { ne: 4.5 } }, ["b2", "b4"]],
    [{ editorId: { ne: "a1" } }, ["b1", "b2", "b4"]],
    [{ rating: { nin: [4.5] } }, ["b2", "b4"]],
    [{ rating: { nin: [null, 1] } }, ["b1", "b3"]],
  ],
  "order, which null never satisfies": [
    [{ pages: { gt: 0 } }, ["b1", "b4"]],
    [{ pages: { gte: 0, lt: 412 } }, ["b2"]],
    [{ rating: { lte: 5 } }, ["b1", "b3"]],
    [{ releasedAt: { lt: new Date("1965-08-01T00:00:00.002Z") } }, ["b1"]],
    [{ id: { gt: "b2" } }, ["b3", "b4"]],
  ],
  "lists, and null": [
    [{ pages: [0, -3] }, ["b2", "b3"]],
    [{ id: { in: [] } }, []],
    [{ rating: [null] }, ["b2", "b4"]],
    [{ editorId: null }, ["b2", "b4"]],
    [{ editorId: { null: false } }, ["b1", "b3"]],
    [{ meta: { null: false } }, ["b1"]],
  ],
  "like, starts and ends, which ignore case and know no wildcards": [
    [{ title: { like: "UNE" } }, ["b1", "b2"]],
    [{ title: { starts: "dune" } }, ["b1", "b2"]],
    [{ title: { ends: "TWO" } }, ["b2"]],
    [{ summary: { like: "%" } }, ["b1"]],
    [{ summary: { like: "d_" } }, ["b1"]],
    [{ summary: { like: "a\\b" } }, ["b3"]],
  ],
  "logic, which is two-valued": [
    [{ OR: [{ title: "Zen" }, { pages: 0 }] }, ["b2", "b4"]],
    [{ AND: [{ out: true }, { NOT: { title: "Zen" } }] }, ["b1"]],
    [{ NOT: { rating: 4.5 } }, ["b2", "b4"]],
    [{ NOT: [{ title: "Zen" }, { title: "Emma" }] }, ["b1", "b2"]],
  ],
  "related records": [
    [{ author: { name: "ann" } }, ["b1", "b2"]],
    [{ editor: { name: { ne: "bob" } } }, ["b3"]],
    [{ notes: { text: "good" } }, ["b1", "b3"]],
    [{ NOT: { notes: { text: "good" } } }, ["b2", "b4"]],
    [{ tags: { name: "blue" } }, ["b1"]],
    [{ author: { books: { title: "Emma" } } }, ["b3", "b4"]],
  ],
};

const PAGES: readonly (readonly [query: FindManyQuery, ids: readonly string[]])[] = [
  [{}, ALL],
  [{ sort: [{ field: "title", direction: "desc" }] }, ["b4", "b3", "b2", "b1"]],
  [{ sort: [{ field: "rating", direction: "asc" }] }, ["b2", "b4", "b1", "b3"]],
  [{ sort: [{ field: "rating", direction: "desc" }] }, ["b1", "b3", "b2", "b4"]],
  [{ sort: [{ field: "pages", direction: "desc" }], limit: 2, offset: 1 }, ["b4", "b2"]],
  [{ limit: 0 }, []],
  [{ offset: 9 }, []],
  [{ where: { id: "b1" }, limit: 1 }, ["b1"]],
  [{ where: { id: "b1" }, limit: 1, offset: 1 }, []],
];

const idsOf = (rows: readonly Row[]): unknown[] => rows.map(({ id }) => id);

const conditionCases: readonly DriverCase[] = Object.entries(CONDITIONS).map(([what, cases]) => ({
  title: `finds and counts by ${what}`,
  async run(driver) {
    for (const [where, ids] of cases) {
      const about = JSON.stringify(where);
      assert.deepEqual(idsOf(await driver.findMany("book", { where })), ids, about);
      assert.equal(await driver.count("book", where), ids.length, `count of ${about}`);
      assert.equal((await driver.findOne("book", where))?.id, ids[0], `findOne of ${about}`);
    }
  },
}));

/** Sorts the columns of a row like those of another. */
function sortedLike(order: Row, row: Row | null | undefined): Row {
  return Object.fromEntries(Object.keys(order).map((name) => [name, row?.[name]]));
}

/** Finding records. */
export const READ_CASES: readonly DriverCase[] = [
  {
    title: "gives back every kind of value as it was stored, and as a fresh copy",
    async run(driver) {
      const row = await driver.findOne("book", { id: "b1" });
      assert.deepEqual(row, DUNE);
      const { meta } = row as { meta: { worlds: unknown[] } };
      meta.worlds.length = 0;
      assert.deepEqual(await driver.findOne("book", { id: "b1" }), DUNE);
      assert.deepEqual(await driver.findOne("book", { id: "b1" }, { select: ["pages", "title"] }), {
        pages: 412,
        title: "Dune",
      });
      assert.equal(await driver.findOne("book", { id: "b9" }), null);
    },
  },
  {
    title: "gives datetimes that may be texts as the dates they are, or as JSON has these",
    async run(driver) {
      const wanted = JSON.stringify(DUNE);
      const { model } = driver;
      const entity = model.get("book") as AnyEntity;
      const find = {
        kind: "find",
        entity,
        where: compileWhere(model, entity, { id: "b1" }),
        textMoments: true,
      } as const;
      for (const limit of [undefined, 1])
        for (const row of await driver.execute({ ...find, limit }))
          assert.equal(JSON.stringify(sortedLike(DUNE, row)), wanted);
      assert.deepEqual(await driver.findOne("book", { id: "b1" }), DUNE);
    },
  },
  ...conditionCases,
  {
    title: "orders by id by default, with null as the smallest value, and cuts pages",
    async run(driver) {
      for (const [query, ids] of PAGES)
        assert.deepEqual(idsOf(await driver.findMany("book", query)), ids, JSON.stringify(query));
    },
  },
  {
    title: "refuses names that are not columns, and values that are undefined",
    async run(driver) {
      for (const where of [{ nope: 1 }, { title: undefined }, { title: { eq: undefined } }])
        await expectRefusal(driver, () => driver.findMany("book", { where }), { code: "BAD_REQUEST" });
      const sort = [{ field: "nope", direction: "asc" }] as const;
      await expectRefusal(driver, () => driver.findMany("book", { sort }), { code: "BAD_REQUEST" });
    },
  },
  {
    title: "streams in batches, in order",
    async run(driver) {
      const batches: unknown[] = [];
      const query = { where: { id: { ne: "b3" } }, sort: [{ field: "title", direction: "asc" }] } as const;
      for await (const rows of driver.stream("book", query, 2)) batches.push(idsOf(rows));
      assert.deepEqual(batches, [["b1", "b2"], ["b4"]]);
    },
  },
];
