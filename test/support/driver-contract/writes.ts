import { beforeEach, describe, expect, it } from "vitest";
import { ConfigurationError } from "../../../src/entity/index.ts";
import type { Where } from "../../../src/gate/index.ts";
import { BadRequestError, ConflictError, ReferencedError } from "../../../src/kernel/index.ts";
import { type Database, entityNamed, everything, plantBlog, rowOf } from "./database.ts";
import { refusals } from "./refusals.ts";

const newPost = (values: Record<string, unknown>): Record<string, unknown> =>
  rowOf(entityNamed("post"), { id: "new", title: "new", authorId: "u1", ...values });

/** Conditions on a new post of u1 in c2, and whether they hold. */
const NEW_CONDITIONS: readonly (readonly [Where, boolean])[] = [
  // This one comes first: the later cases store such posts.
  [{ author: { posts: { views: 3 } } }, false],
  [{ author: { name: "ann" } }, true],
  [{ author: { name: { like: "B" } } }, false],
  [{ author: { posts: { id: "p1" } }, views: { gt: 2, lte: 3 }, editor: null }, true],
  [{ OR: [{ editor: {} }, { views: 4 }, { comments: {} }, { tags: {} }] }, false],
  [{ NOT: [{ comments: {} }, { tags: { name: "red" } }, { editor: { name: "ann" } }] }, true],
  [{ category: { children: {} }, author: { NOT: { nickname: "nobody" } } }, false],
  [
    { NOT: { category: { children: {} } }, OR: [{ author: { name: "bob" } }, { category: { id: ["c1", "c2"] } }] },
    true,
  ],
  [{ category: null }, false],
  [{ OR: [] }, false],
  [{}, true],
];

/** Wheres that match every row: using one for a bulk write is a mistake. */
const ALWAYS: readonly Where[] = [
  {},
  { AND: [] },
  { OR: [{}] },
  { NOT: { OR: [] } },
  { id: { nin: [] } },
  { AND: [{}, { AND: [] }] },
];

/** Creating, changing, deleting; constraints; atomicity. */
export function describeWrites(database: Database): void {
  describe("writes", () => {
    beforeEach(() => plantBlog(database.driver));

    const { failing, conflict, dangling } = refusals(database);

    describe("that create", () => {
      it("store a row if a condition holds without it, and otherwise check no constraint", async () => {
        const { driver } = database;
        if (driver.capabilities.conditionalInserts !== true) return;
        const outcomes: string[] = [];
        for (const [at, [where]] of NEW_CONDITIONS.entries()) {
          // The first slug is free, the second is taken.
          for (const values of [
            { id: `c${at}`, slug: `c${at}` },
            { id: "p1", slug: "a" },
          ]) {
            const row = newPost({ categoryId: "c2", views: 3, ...values });
            const made = driver.create("post", row, { where }).catch((error: Error) => error.constructor.name);
            const stored = await made;
            if (typeof stored === "object") expect(stored).toEqual(row);
            outcomes.push(`${JSON.stringify(where)} ${typeof stored === "object" ? "stored" : stored}`);
          }
        }
        const expected = NEW_CONDITIONS.flatMap(([where, holds]) =>
          (holds ? ["stored", "ConflictError"] : ["NotStoredError", "NotStoredError"]).map(
            (outcome) => `${JSON.stringify(where)} ${outcome}`,
          ),
        );
        expect(outcomes).toEqual(expected);
      });

      it("store several rows at once and return their number", async () => {
        const { driver } = database;
        expect(await driver.createMany("post", [newPost({ id: "n1" }), newPost({ id: "n2" })])).toBe(2);
        expect(await driver.createMany("post", [])).toBe(0);
        expect(await driver.count("post", { title: "new" })).toBe(2);
      });

      it("store no row when one of several is refused", async () => {
        const { driver } = database;
        const rows = [newPost({ id: "n1" }), newPost({ id: "n2" }), newPost({ id: "n3", slug: "a" })];
        expect(await conflict(() => driver.createMany("post", rows))).toEqual(["authorId", "slug"]);
        expect(
          await dangling(() =>
            driver.createMany("post", [newPost({ id: "n1" }), newPost({ id: "n2", authorId: "nope" })]),
          ),
        ).toEqual(["authorId"]);
      });
    });

    describe("that change one record", () => {
      it("return the record after the change", async () => {
        const { driver } = database;
        const before = await driver.findOne("post", { id: "p1" });
        const after = { ...before, title: "changed", rating: null, meta: { b: [2] }, editorId: "u3" };
        expect(
          await driver.update(
            "post",
            { id: "p1" },
            { title: "changed", rating: null, meta: { b: [2] }, editorId: "u3" },
          ),
        ).toEqual(after);
        expect(await driver.findOne("post", { id: "p1" })).toEqual(after);
        expect(await driver.update("post", { id: "p1" }, {})).toEqual(after);
        expect(await driver.count("post", { title: "changed" })).toBe(1);
      });

      it("change it only if all conditions hold, and otherwise return null", async () => {
        const { driver } = database;
        const before = await everything(driver);
        const misses: Where[] = [
          { id: "nope" },
          { id: "p1", authorId: "u2" },
          { AND: [{ id: "p1" }, { published: false }] },
          { id: "p1", author: { name: "bob" } },
          { id: "p1", NOT: { tags: { name: "red" } } },
          { AND: [{ id: "p1" }, { id: "p2" }] },
        ];
        for (const where of misses)
          expect.soft(await driver.update("post", where, { title: "changed" }), JSON.stringify(where)).toBeNull();
        expect(await everything(driver)).toEqual(before);
        const hits: Where[] = [
          { id: "p1", authorId: "u1" },
          { AND: [{ id: "p1" }, { OR: [{ published: true }, { views: 0 }] }] },
          { AND: [{ author: { name: "ann" } }, { AND: [{ id: { eq: "p1" } }] }] },
          { id: "p1", tags: { name: "red" }, comments: { text: "bad" } },
          { id: "p1", author: { posts: { id: "p1" } }, NOT: { comments: { post: { views: -1 } } } },
        ];
        for (const [index, where] of hits.entries()) {
          const changed = await driver.update("post", where, { views: index });
          expect.soft(changed, JSON.stringify(where)).toMatchObject({ id: "p1", views: index });
        }
      });

      it("refuse a condition that could match several records", async () => {
        const { driver } = database;
        const several: Where[] = [
          { id: ["p1", "p2"] },
          { id: { gte: "p1" } },
          { NOT: { id: "p1" } },
          { OR: [{ id: "p1" }, { id: "p2" }] },
          { author: { id: "u1" } },
        ];
        for (const where of several)
          expect
            .soft(await failing(() => driver.update("post", where, { title: "changed" })), JSON.stringify(where))
            .toBeInstanceOf(ConflictError);
        expect(await failing(() => driver.update("post", {}, { title: "changed" }))).toBeInstanceOf(ConfigurationError);
        expect(await driver.update("post", { title: "beta" }, { views: 77 })).toMatchObject({
          title: "beta",
          views: 77,
        });
        expect(await driver.update("post", { title: "none" }, { views: 77 })).toBeNull();
      });
    });

    describe("that change several records", () => {
      it("change the matching records and return their number", async () => {
        const { driver } = database;
        expect(await driver.updateMany("post", { published: false }, { views: 99, editorId: "u3" })).toBe(2);
        expect((await driver.findMany("post", { where: { views: 99 } })).map((row) => row.id)).toEqual(["p2", "p4"]);
        expect(await driver.updateMany("post", { author: { name: "bob" } }, { status: "done" })).toBe(2);
        expect(
          await driver.updateMany("post", { tags: { name: "red" }, NOT: { comments: { text: "bad" } } }, { rating: 9 }),
        ).toBe(1);
        expect(await driver.updateMany("post", { id: [] }, { title: "changed" })).toBe(0);
        expect(await driver.updateMany("post", { id: { null: false } }, { title: "changed" })).toBe(5);
      });

      it("change nothing when one of them is refused", async () => {
        const { driver } = database;
        expect(
          await conflict(() => driver.updateMany("user", { id: ["u2", "u3"] }, { email: "same@example.com" })),
        ).toEqual(["email"]);
        expect(await dangling(() => driver.updateMany("post", { published: true }, { editorId: "nope" }))).toEqual([
          "editorId",
        ]);
      });

      it.each(ALWAYS)("refuse the condition %j", async (where) => {
        const { driver } = database;
        expect(await failing(() => driver.updateMany("post", where, { title: "changed" }))).toBeInstanceOf(
          BadRequestError,
        );
        expect(await failing(() => driver.deleteMany("comment", where))).toBeInstanceOf(BadRequestError);
      });
    });

    describe("that delete", () => {
      it("remove the record if all conditions hold, and otherwise return false", async () => {
        const { driver } = database;
        expect(await driver.delete("comment", { id: "nope" })).toBe(false);
        expect(await driver.delete("comment", { id: "m1", text: "bad" })).toBe(false);
        expect(await driver.delete("comment", { id: "m1", author: { name: "ann" } })).toBe(false);
        expect(await driver.delete("comment", { id: "m1", post: { comments: { text: "none" } } })).toBe(false);
        expect(await driver.count("comment")).toBe(3);
        expect(await driver.delete("comment", { id: "m3", post: { comments: { id: "m3" } } })).toBe(true);
        expect(
          await driver.delete("comment", { id: "m1", author: { name: "bob" }, post: { author: { name: "ann" } } }),
        ).toBe(true);
        expect(await driver.delete("comment", { id: "m1" })).toBe(false);
        expect((await driver.findMany("comment")).map((row) => row.id)).toEqual(["m2"]);
      });

      it("refuse to delete by a condition that could match several records", async () => {
        const { driver } = database;
        for (const where of [{ text: "nice" }, { NOT: { id: "m1" } }])
          expect
            .soft(await failing(() => driver.delete("comment", where)), JSON.stringify(where))
            .toBeInstanceOf(ConflictError);
        expect(await failing(() => driver.delete("comment", {}))).toBeInstanceOf(ConfigurationError);
        expect(await driver.delete("comment", { id: ["m1"] })).toBe(true);
        expect(await driver.delete("comment", { id: ["m1"] })).toBe(false);
      });

      it("remove all matching records and return their number", async () => {
        const { driver } = database;
        expect(await driver.deleteMany("comment", { text: "nice", post: { published: true } })).toBe(2);
        expect(await driver.deleteMany("comment", { id: [] })).toBe(0);
        expect((await driver.findMany("comment")).map((row) => row.id)).toEqual(["m2"]);
      });

      it("refuse to delete a record that others require", async () => {
        const { driver } = database;
        expect(await failing(() => driver.delete("user", { id: "u1" }))).toBeInstanceOf(ReferencedError);
        expect(await failing(() => driver.deleteMany("user", { id: ["u1", "u3"] }))).toBeInstanceOf(ReferencedError);
        expect(await driver.delete("user", { id: "u3" })).toBe(true);
      });

      it("also delete dependent records and links", async () => {
        const { driver } = database;
        expect(await driver.delete("post", { id: "p1" })).toBe(true);
        expect((await driver.findMany("comment")).map((row) => row.id)).toEqual(["m3"]);
        expect(await driver.links("tag", "posts", ["t1", "t2"])).toEqual([
          { source: "t1", target: "p3" },
          { source: "t2", target: "p4" },
        ]);
        expect(await driver.delete("tag", { id: "t1" })).toBe(true);
        expect(await driver.links("post", "tags", ["p3", "p4"])).toEqual([{ source: "p4", target: "t2" }]);
      });

      it("set the keys of the remaining records to null", async () => {
        const { driver } = database;
        expect(await driver.deleteMany("post", { authorId: "u2" })).toBe(2);
        expect(await driver.delete("user", { id: "u2" })).toBe(true);
        expect(await driver.findMany("profile", { select: ["id"] })).toEqual([{ id: "r1" }]);
        expect(await driver.findOne("post", { id: "p1" })).toMatchObject({
          editorId: null,
          title: "alpha",
          authorId: "u1",
        });
        expect(await driver.findOne("comment", { id: "m1" })).toMatchObject({ authorId: null, postId: "p1" });
        expect(await driver.delete("category", { id: "c1" })).toBe(true);
        expect(await driver.findOne("category", { id: "c2" })).toMatchObject({ parentId: null });
        expect(await driver.findOne("post", { id: "p1" })).toMatchObject({ categoryId: null });
      });
    });
  });
}
