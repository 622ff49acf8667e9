import assert from "node:assert/strict";
import type { Where } from "../../gate/index.ts";
import { NotStoredError } from "../../kernel/index.ts";
import { type DriverCase, expectRefusal, type Refusal } from "./driver-case.ts";
import { authorRow, bookRow, DUNE, noteRow } from "./library.ts";

const conflict = (...fields: string[]): Refusal => ({ code: "CONFLICT", fields });
const dangling = (...fields: string[]): Refusal => ({ code: "VALIDATION_FAILED", fields });
const REFERENCED: Refusal = { code: "REFERENCED" };

/** Storing, updating and deleting records, and constraints. */
export const WRITE_CASES: readonly DriverCase[] = [
  {
    title: "creates records, one or several, and gives the row or the number",
    async run(driver) {
      const row = bookRow({ id: "b5", title: "Ice", meta: [1, { a: null }], authorId: "a3" });
      assert.deepEqual(await driver.create("book", row), row);
      const notes = ["n8", "n9"].map((id) => noteRow({ id, text: id, bookId: "b5" }));
      assert.equal(await driver.createMany("note", notes), 2);
      assert.deepEqual(await driver.findMany("note", { where: { bookId: "b5" } }), notes);
    },
  },
  {
    title: "creates a record only where a condition holds without it, if it takes conditions at all",
    async run(driver) {
      if (driver.capabilities.conditionalInserts !== true) return;
      const row = bookRow({ id: "b5", title: "Ice", pages: 3, authorId: "a1" });
      const taken = { ...row, title: "Dune" };
      const refusing: readonly Where[] = [
        { pages: 4 },
        { author: { name: "bob" } },
        { author: { books: { id: "b5" } } },
        { editor: {} },
        { notes: {} },
        { tags: {} },
        { NOT: { author: { name: "ann" } } },
        { OR: [{ pages: 4 }, { author: { books: { title: "Emma" } } }] },
      ];
      for (const where of refusing)
        for (const data of [row, taken])
          await expectRefusal(driver, () => driver.create("book", data, { where }), { code: "INTERNAL" });
      const where: Where = { pages: 3, author: { books: { title: "Dune" } }, editor: null, NOT: { notes: {} } };
      await expectRefusal(driver, () => driver.create("book", taken, { where }), conflict("authorId", "title"));
      assert.deepEqual(await driver.create("book", row, { where }), row);
      await driver.transaction(async (inner) => {
        const next = { ...row, id: "b6", title: "Snow" };
        await assert.rejects(inner.create("book", next, { where: { author: { name: "bob" } } }), NotStoredError);
        assert.deepEqual(await inner.create("book", next, { where: { author: { books: { id: "b5" } } } }), next);
      });
    },
  },
  {
    title: "changes one record by its id, and only while the rest of the condition holds",
    async run(driver) {
      const changed = { ...DUNE, pages: 500, meta: null };
      assert.deepEqual(await driver.update("book", { id: "b1", pages: 412 }, { pages: 500, meta: null }), changed);
      assert.equal(await driver.update("book", { id: "b1", pages: 412 }, { pages: 1 }), null);
      assert.equal(await driver.update("book", { id: "b1", author: { name: "bob" } }, { pages: 1 }), null);
      assert.deepEqual(await driver.findOne("book", { id: "b1" }), changed);
    },
  },
  {
    title: "lets only one of several conditional changes through",
    async run(driver) {
      const take = (): Promise<unknown> => driver.update("book", { id: "b2", pages: 0 }, { pages: 1 });
      const taken = await Promise.all([take(), take(), take(), take()]);
      assert.equal(taken.filter((row) => row !== null).length, 1);
    },
  },
  {
    title: "counts the versions of records in the statement that changes them, whatever the data says",
    async run(driver) {
      const { version, ...unnumbered } = noteRow({ id: "n9", text: "new", bookId: "b2" });
      assert.equal((await driver.create("note", unnumbered)).version, version);
      const changed = await driver.update("note", { id: "n9", version: 1 }, { text: "two", version: 7 });
      assert.equal(changed?.version, 2);
      assert.equal(await driver.update("note", { id: "n9", version: 1 }, { text: "late" }), null);
      assert.equal((await driver.update("note", { id: "n9" }, { id: "n9" }))?.version, 2, "an id alone is no change");
      assert.equal(await driver.updateMany("note", { bookId: "b2" }, { text: "three", version: 2 }), 1);
      assert.equal((await driver.findOne("note", { id: "n9" }))?.version, 3);
    },
  },
  {
    title: "changes and deletes all records that match, and says how many",
    async run(driver) {
      assert.equal(await driver.updateMany("book", { authorId: "a2" }, { rating: 1 }), 2);
      assert.equal(await driver.count("book", { rating: 1 }), 2);
      assert.equal(await driver.deleteMany("note", { text: "good" }), 2);
      assert.equal(await driver.deleteMany("note", { text: "good" }), 0);
      assert.equal(await driver.delete("note", { id: "n2", text: "other" }), false);
      assert.equal(await driver.delete("note", { id: "n2" }), true);
      assert.equal(await driver.count("note"), 0);
    },
  },
  {
    title: "changes one record by other columns than its id, unless several have them",
    async run(driver) {
      const { id } = DUNE;
      assert.deepEqual(await driver.update("book", { title: "Dune", authorId: "a1" }, { pages: 1 }), {
        ...DUNE,
        pages: 1,
      });
      assert.equal(await driver.delete("book", { title: "none" }), false);
      const several: Refusal = { code: "CONFLICT" };
      await expectRefusal(driver, () => driver.update("book", { id: { ne: "b9" } }, { pages: 2 }), several);
      await expectRefusal(driver, () => driver.delete("book", { id: { ne: "b9" } }), several);
      await expectRefusal(driver, () => driver.update("book", { id }, { id: "b9" }), { code: "DATABASE_ERROR" });
    },
  },
  {
    title: "refuses to change several records without a condition, and to lock one without its id",
    async run(driver) {
      const bad: Refusal = { code: "BAD_REQUEST" };
      await expectRefusal(driver, () => driver.findOne("book", { title: "Dune" }, { lock: true }), bad);
      await expectRefusal(driver, () => driver.updateMany("book", {}, { pages: 1 }), bad);
      await expectRefusal(driver, () => driver.deleteMany("book", {}), bad);
    },
  },
  {
    title: "refuses a unique value that is taken, and names the columns",
    async run(driver) {
      const ann = authorRow({ id: "a9", name: "other", email: "ann@example.com" });
      await expectRefusal(driver, () => driver.create("author", ann), conflict("email"));
      const twins = ["a8", "a9"].map((id) => authorRow({ id, name: id, email: "same@example.com" }));
      await expectRefusal(driver, () => driver.createMany("author", twins), conflict("email"));
      const again = authorRow({ id: "a1", name: "ann", email: "new@example.com" });
      await expectRefusal(driver, () => driver.create("author", again), conflict("id"));
      const move = { title: "Dune" };
      await expectRefusal(driver, () => driver.update("book", { id: "b2" }, move), conflict("authorId", "title"));
      assert.ok(await driver.update("author", { id: "a1" }, { email: "ann@example.com" }), "its own value is free");
    },
  },
  {
    title: "refuses a reference to nothing, and names the key",
    async run(driver) {
      const book = bookRow({ id: "b9", title: "x", authorId: "nobody" });
      await expectRefusal(driver, () => driver.create("book", book), dangling("authorId"));
      await expectRefusal(
        driver,
        () => driver.update("book", { id: "b1" }, { editorId: "nobody" }),
        dangling("editorId"),
      );
    },
  },
  {
    title: "deletes what goes along, empties keys that stay, and keeps what others may not lose",
    async run(driver) {
      await expectRefusal(driver, () => driver.delete("author", { id: "a1" }), REFERENCED);
      assert.equal(await driver.delete("book", { id: "b1" }), true);
      assert.deepEqual(
        (await driver.findMany("note")).map(({ id }) => id),
        ["n3"],
      );
      assert.deepEqual(await driver.links("tag", "books", ["t1", "t2"]), [{ source: "t1", target: "b3" }]);
      assert.equal(await driver.deleteMany("book", { authorId: "a1" }), 1);
      assert.equal(await driver.delete("author", { id: "a1" }), true);
      assert.deepEqual(await driver.findOne("book", { id: "b3" }, { select: ["editorId"] }), { editorId: null });
    },
  },
  {
    title: "adds and removes pairs, once each, seen from both sides",
    async run(driver) {
      await driver.link("book", "tags", "b2", ["t2", "t1", "t2"]);
      await driver.link("book", "tags", "b2", ["t1"]);
      await driver.unlink("book", "tags", "b1", ["t1", "nothing"]);
      assert.deepEqual(await driver.links("book", "tags", ["b2", "b1"]), [
        { source: "b1", target: "t2" },
        { source: "b2", target: "t1" },
        { source: "b2", target: "t2" },
      ]);
      assert.deepEqual(await driver.links("tag", "books", ["t1"], { where: { title: "Emma" } }), [
        { source: "t1", target: "b3" },
      ]);
      assert.equal((await driver.links("tag", "books", ["t1", "t2"], { limit: 2 })).length, 2);
      await expectRefusal(driver, () => driver.link("book", "tags", "b1", ["nothing"]), { code: "VALIDATION_FAILED" });
    },
  },
];
