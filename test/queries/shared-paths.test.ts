import { describe, expect, it } from "vitest";
import { belongsTo, entity, hasMany, hasOne, manyToMany, type Row, string, type Where } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { ALL_DATABASES } from "../support/sql-databases.ts";

// Most records lead to the same few others: evaluating these once for each record would take minutes.

const open = { read: ["everyone"] } as const;
const item = entity("item", {
  text: string,
  shelf: belongsTo(() => shelf).optional(),
  marks: manyToMany(() => mark),
})
  .timestamps(false)
  .rules(open);
const mark = entity("mark", { name: string, items: manyToMany(() => item) })
  .timestamps(false)
  .rules(open);
const shelf = entity("shelf", { name: string, items: hasMany(() => item), plate: hasOne(() => plate) })
  .timestamps(false)
  .rules(open);
const plate = entity("plate", { shelf: belongsTo(() => shelf), scratches: hasMany(() => scratch) })
  .timestamps(false)
  .rules(open);
const scratch = entity("scratch", { size: string, plate: belongsTo(() => plate).optional() })
  .timestamps(false)
  .rules(open);

const named = (prefix: string, count: number, row: (index: number) => Row): Row[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${prefix}${index}`, ...row(index) }));

describe.each(ALL_DATABASES)("conditions on records reached back from shared ones, on %s", (name, openDatabase) => {
  // PostgreSQL plans by statistics, which new tables do not have.
  const MANY = name === "PostgreSQL" ? 2_000 : 20_000;

  it("are evaluated once, and find the right records", async () => {
    const database = await openDatabase();
    const app = createTestApp({ entities: [item, mark, shelf, plate, scratch], driver: database.driver });
    await app.api.ready;
    const { driver } = app.api;
    await driver.createMany("shelf", [
      { id: "s", name: "large" },
      { id: "e", name: "small" },
    ]);
    await driver.createMany("plate", [{ id: "p", shelfId: "s" }]);
    await driver.createMany("scratch", [
      ...named("x", MANY, () => ({ size: "small", plateId: "p" })),
      { id: "y", size: "none" },
    ]);
    const shelves = [null, "e"];
    await driver.createMany(
      "item",
      named("i", MANY, (index) => ({ text: `${index}`, shelfId: index < shelves.length ? shelves[index] : "s" })),
    );
    await driver.createMany("mark", [
      { id: "m", name: "red" },
      { id: "n", name: "blue" },
    ]);
    await driver.link("mark", "items", "n", ["i0", "i1"]);
    for (let start = 2; start < MANY; start += 2_000)
      await driver.link(
        "mark",
        "items",
        "m",
        named("i", 2_000, () => ({}))
          .map((_, index) => `i${start + index}`)
          .filter((id) => Number(id.slice(1)) < MANY),
      );
    const tries: readonly (readonly [Where, number])[] = [
      [{ shelf: { items: { text: "none" } } }, 0],
      [{ shelf: { items: { text: "1" } } }, 1],
      [{ shelf: { items: { none: { text: "1" } } } }, MANY - 2],
      [{ NOT: { shelf: { items: { text: "1" } } } }, MANY - 1],
      [{ shelf: { items: { marks: { name: "green" } } } }, 0],
      [{ shelf: { items: { marks: { name: "blue" } } } }, 1],
      [{ shelf: { plate: { scratches: { size: "large" } } } }, 0],
      [{ shelf: { plate: { scratches: { none: { size: "large" } } } } }, MANY - 2],
      [{ marks: { items: { text: "none" } } }, 0],
      [{ marks: { items: { text: "0" } } }, 2],
      [{ marks: { items: {} } }, MANY],
      [{ marks: { every: { items: { none: { text: "0" } } } } }, MANY - 2],
      [{ OR: [{ marks: { items: { text: "none" } } }, { shelf: { items: { text: "1" } } }] }, 1],
      [{ id: "i0", marks: { items: { text: "1" } } }, 1],
      [{ id: ["i0", "i5"], marks: { items: { text: "1" } } }, 1],
    ];
    for (const [where, count] of tries) {
      const query = `_where=${encodeURIComponent(JSON.stringify(where))}&_page=1&_limit=1`;
      const { headers, status } = await app.as(null).request("GET", `/api/items?${query}`);
      expect.soft([status, headers.get("x-total-count")], JSON.stringify(where)).toEqual([200, String(count)]);
    }
    await app.close();
    await database.drop();
  });
});
