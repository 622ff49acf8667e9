import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ResolvedRelation } from "../../../src/entity/index.ts";
import {
  allOf,
  compileWhere,
  type Driver,
  decodeCursor,
  encodeCursor,
  keysetCondition,
  matches,
  type RelatedRows,
  type Row,
  type SortKey,
  totalOrder,
  type Where,
} from "../../../src/gate/index.ts";
import { fixtureModel } from "../entities.ts";
import { propertyOptions } from "../properties.ts";
import { type RandomBlog, randomBlogFor, randomSort, randomWhere } from "./arbitraries.ts";
import { type Database, empty, entityNamed, insert } from "./database.ts";

/** Milliseconds. Each example runs a few dozen statements. */
const PATIENCE = 300_000;
const ENTITIES = ["post", "user", "comment", "tag", "category"] as const;

async function plant(driver: Driver, { rows, tags }: RandomBlog): Promise<void> {
  await empty(driver);
  for (const [name, list] of Object.entries(rows)) await insert(driver, name, list);
  for (const { source, target } of tags) await driver.link("post", "tags", source, [target]);
}

/** Finds related rows in a slow and simple way. */
function relatedIn({ rows, tags }: RandomBlog): RelatedRows {
  return ({ type, target, foreignKey, name }: ResolvedRelation, row: Row): readonly Row[] => {
    const all = rows[target.name] ?? [];
    if (type === "belongsTo") return all.filter((other) => other.id === row[foreignKey as string]);
    if (type !== "manyToMany") return all.filter((other) => other[foreignKey as string] === row.id);
    return all.filter((other) =>
      tags.some(({ source, target: to }) =>
        name === "tags" ? source === row.id && to === other.id : to === row.id && source === other.id,
      ),
    );
  };
}

/** Pages through everything that matches; each page begins after the cursor of the last row of the page before. */
export async function followCursors(
  driver: Driver,
  name: string,
  where: Where,
  sort: readonly SortKey[],
  limit: number,
): Promise<unknown[]> {
  const entity = entityNamed(name);
  const order = totalOrder(sort);
  const ids: unknown[] = [];
  for (let cursor: string | undefined; ; ) {
    const after =
      cursor === undefined ? undefined : keysetCondition(entity, order, decodeCursor(entity, order, cursor));
    const rows = await driver.findMany(name, { where: allOf(where, after), sort: order, limit });
    ids.push(...rows.map((row) => row.id));
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return ids;
    cursor = encodeCursor(order, last);
  }
}

/** The same rules, on random data and queries. */
export function describeProperties(database: Database): void {
  describe("for any rows", () => {
    it("any condition finds the same rows as in memory", { timeout: PATIENCE }, async () => {
      const question = fc.constantFrom(...ENTITIES).chain((entity) =>
        fc.record({
          entity: fc.constant(entity),
          wheres: fc.array(randomWhere(entity), { minLength: 3, maxLength: 5 }),
        }),
      );
      await fc.assert(
        fc.asyncProperty(randomBlogFor(database), question, async (blog, { entity, wheres }) => {
          const { driver } = database;
          await plant(driver, blog);
          for (const where of wheres) {
            const condition = compileWhere(fixtureModel, entityNamed(entity), where);
            const expected = (blog.rows[entity] ?? []).filter((row) => matches(condition, row, relatedIn(blog)));
            const found = await driver.findMany(entity, { where, sort: [{ field: "id", direction: "asc" }] });
            expect(
              found.map((row) => row.id),
              JSON.stringify(where),
            ).toEqual(expected.map((row) => row.id));
            expect(await driver.count(entity, where)).toBe(expected.length);
          }
        }),
        propertyOptions(80),
      );
    });

    it("following cursors visits each row once, in any order with nulls", { timeout: PATIENCE }, async () => {
      await fc.assert(
        fc.asyncProperty(
          randomBlogFor(database),
          randomSort("post"),
          fc.integer({ min: 1, max: 4 }),
          fc.boolean(),
          async (blog, sort, limit, narrow) => {
            const { driver } = database;
            await plant(driver, blog);
            const where = narrow ? { NOT: { status: "done" } } : {};
            const all = await driver.findMany("post", { where, sort: totalOrder(sort) });
            expect(await followCursors(driver, "post", where, sort, limit)).toEqual(all.map((row) => row.id));
          },
        ),
        propertyOptions(30),
      );
    });
  });
}
