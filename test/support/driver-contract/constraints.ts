import { beforeEach, describe, expect, it } from "vitest";
import type { Row, Where } from "../../../src/gate/index.ts";
import { type Database, entityNamed, insert, plantBlog, rowOf } from "./database.ts";
import { refusals } from "./refusals.ts";

const idOf = ({ id }: Row): unknown => id;

const newPost = (values: Record<string, unknown>): Record<string, unknown> =>
  rowOf(entityNamed("post"), { id: "new", title: "new", authorId: "u1", ...values });

/** Unique values and references. */
export function describeConstraints(database: Database): void {
  describe("writes", () => {
    beforeEach(() => plantBlog(database.driver));
    const { conflict, dangling } = refusals(database);

    describe("that repeat a unique value", () => {
      it("are conflicts that name the columns", async () => {
        const { driver } = database;
        const user = rowOf(entityNamed("user"), { id: "u9", name: "dora", email: "dora@example.com" });
        expect(await conflict(() => driver.create("user", { ...user, email: "ann@example.com" }))).toEqual(["email"]);
        expect(await conflict(() => driver.create("user", { ...user, nickname: "annie" }))).toEqual(["nickname"]);
        expect(await conflict(() => driver.create("user", { ...user, id: "u1" }))).toEqual(["id"]);
        expect(await conflict(() => driver.update("user", { id: "u2" }, { email: "ann@example.com" }))).toEqual([
          "email",
        ]);
        expect(await conflict(() => driver.create("post", newPost({ slug: "a" })))).toEqual(["authorId", "slug"]);
        expect(await conflict(() => driver.update("post", { id: "p2" }, { slug: "a" }))).toEqual(["authorId", "slug"]);
        expect(
          await conflict(() => driver.create("profile", rowOf(entityNamed("profile"), { id: "r9", userId: "u1" }))),
        ).toEqual(["userId"]);
        await insert(driver, "badge", [{ id: "b1", label: "first", userId: "u1" }]);
        expect(
          await conflict(() =>
            driver.create("badge", rowOf(entityNamed("badge"), { id: "b2", label: "second", userId: "u1" })),
          ),
        ).toEqual(["userId"]);
        const twins = [
          { ...user, id: "u8" },
          { ...user, id: "u9" },
        ];
        expect(await conflict(() => driver.createMany("user", twins))).toEqual(["email"]);
      });

      it("do not conflict over null, part of a combination, or the record itself", async () => {
        const { driver } = database;
        await insert(driver, "user", [{ id: "u4", name: "dan", email: "dan@example.com", nickname: null }]);
        await insert(driver, "post", [
          { id: "p6", title: "no slug", authorId: "u2" },
          { id: "p7", title: "other author", slug: "a", authorId: "u2" },
        ]);
        expect(await driver.update("user", { id: "u1" }, { email: "ann@example.com", name: "anna" })).toMatchObject({
          name: "anna",
        });
        expect(await driver.update("user", { id: "u1" }, { email: "anna@example.com" })).not.toBeNull();
        expect(await driver.update("user", { id: "u2" }, { email: "ann@example.com" })).not.toBeNull();
        await driver.delete("user", { id: "u4" });
        await insert(driver, "user", [{ id: "u5", name: "dan", email: "dan@example.com" }]);
      });
    });

    describe("of an entity with soft deletion", () => {
      const seat = (values: Record<string, unknown>): Record<string, unknown> => rowOf(entityNamed("seat"), values);
      const gone = new Date("2024-06-01T00:00:00.000Z");
      // The first test shows which deleted records still hold their values.
      const itFrees = database.keepsDeletedValues ? () => undefined : it;

      it("are conflicts when they repeat a value of a live record", async () => {
        const { driver } = database;
        await driver.create("seat", seat({ id: "s1", code: "a", row: "r", place: 1, userId: "u1" }));
        expect(await conflict(() => driver.create("seat", seat({ id: "s2", code: "a" })))).toEqual(["code"]);
        expect(await conflict(() => driver.create("seat", seat({ id: "s2", row: "r", place: 1 })))).toEqual([
          "place",
          "row",
        ]);
        expect(await conflict(() => driver.create("seat", seat({ id: "s2", userId: "u1" })))).toEqual(["userId"]);
        expect(await conflict(() => driver.create("seat", seat({ id: "s1", deletedAt: gone })))).toEqual(["id"]);
      });

      if (database.keepsDeletedValues)
        it("are conflicts when they repeat a value of a deleted record", async () => {
          const { driver } = database;
          await driver.create("seat", seat({ id: "s1", code: "a", userId: "u1", deletedAt: gone }));
          expect(await conflict(() => driver.create("seat", seat({ id: "s2", code: "a" })))).toEqual(["code"]);
          expect(await conflict(() => driver.create("seat", seat({ id: "s2", userId: "u1" })))).toEqual(["userId"]);
        });

      itFrees("share values with deleted records, as many as there are", async () => {
        const { driver } = database;
        const values = { code: "a", row: "r", place: 1, userId: "u1" };
        await insert(driver, "seat", [
          { id: "s1", ...values, deletedAt: gone },
          { id: "s2", ...values, deletedAt: gone },
          { id: "s3", ...values },
        ]);
        expect(await driver.count("seat", { code: "a" })).toBe(3);
        expect(await driver.count("seat", { userId: "u1", deletedAt: null })).toBe(1);
      });

      itFrees(
        "free their values with the deletion, and are conflicts when they come back to values that are taken",
        async () => {
          const { driver } = database;
          await driver.create("seat", seat({ id: "s1", code: "a" }));
          await driver.update("seat", { id: "s1" }, { deletedAt: gone });
          await driver.create("seat", seat({ id: "s2", code: "a" }));
          expect(await conflict(() => driver.update("seat", { id: "s1" }, { deletedAt: null }))).toEqual(["code"]);
          expect(await conflict(() => driver.updateMany("seat", { code: "a" }, { deletedAt: null }))).toEqual(["code"]);
          await driver.update("seat", { id: "s2" }, { deletedAt: gone });
          expect(await driver.update("seat", { id: "s1" }, { deletedAt: null })).toMatchObject({ code: "a" });
        },
      );

      itFrees("are followed to all of them, by a relation to a single one too", async () => {
        const { driver } = database;
        await insert(driver, "seat", [
          { id: "s1", code: "old", userId: "u1", deletedAt: gone },
          { id: "s2", code: "new", userId: "u1" },
          { id: "s3", code: "old", userId: "u2", deletedAt: gone },
        ]);
        const users = async (where: Where): Promise<unknown> => (await driver.findMany("user", { where })).map(idOf);
        expect(await users({ seat: { code: "old" } })).toEqual(["u1", "u2"]);
        expect(await users({ seat: { code: "new", deletedAt: null } })).toEqual(["u1"]);
        expect(await users({ seat: { code: "old", deletedAt: null } })).toEqual([]);
        expect(await users({ NOT: { seat: { deletedAt: null } } })).toEqual(["u2", "u3"]);
        expect(await users({ seat: null })).toEqual(["u3"]);
      });
    });

    describe("with a reference to a record that does not exist", () => {
      it("are refused, naming the foreign key", async () => {
        const { driver } = database;
        expect(await dangling(() => driver.create("post", newPost({ authorId: "nope" })))).toEqual(["authorId"]);
        expect(await dangling(() => driver.create("post", newPost({ editorId: "nope" })))).toEqual(["editorId"]);
        expect(await dangling(() => driver.update("post", { id: "p1" }, { categoryId: "nope" }))).toEqual([
          "categoryId",
        ]);
        expect(await dangling(() => driver.update("category", { id: "c1" }, { parentId: "nope" }))).toEqual([
          "parentId",
        ]);
        expect(
          await dangling(() => driver.create("profile", rowOf(entityNamed("profile"), { id: "r9", userId: "nope" }))),
        ).toEqual(["userId"]);
      });

      it("are allowed when the reference is null or to the record itself", async () => {
        const { driver } = database;
        expect(await driver.update("post", { id: "p1" }, { editorId: null, categoryId: null })).toMatchObject({
          editorId: null,
        });
        expect(await driver.update("category", { id: "c1" }, { parentId: "c1" })).toMatchObject({ parentId: "c1" });
        expect(await driver.update("category", { id: "c1" }, { parentId: null })).not.toBeNull();
        await insert(driver, "category", [{ id: "c9", name: "own parent", parentId: "c9" }]);
      });
    });
  });
}
