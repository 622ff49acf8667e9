import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { belongsTo, defineRule, entity, hasMany, manyToMany, string } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

const everyone = ["everyone"] as const;
const all = { read: everyone, create: everyone, update: everyone, delete: everyone };

// A rule that reads the record, and needs a condition on others only for what the record becomes.
const openOrTagged = defineRule("daoOpen", ({ record }) =>
  record?.state === "open" ? true : record?.state === "closed" && { labels: { name: "x" } },
);
const openOrPaired = defineRule("daoPaired", ({ record }) =>
  record?.state === "open" ? true : record?.state === "closed" && { shelf: { books: { state: "closed" } } },
);
const label = entity("label", { name: string }).rules(all);
const node = entity("node", {
  state: string,
  parent: belongsTo(() => node).optional(),
  children: hasMany(() => node),
  labels: manyToMany(() => label),
}).rules({ ...all, update: [openOrTagged] });

const shelf = entity("shelf", { name: string.default("s"), books: hasMany(() => book) }).rules(all);
const book = entity("book", { state: string, shelf: belongsTo(() => shelf) }).rules({ ...all, update: [openOrPaired] });

const granted = defineRule("daoGranted", () => ({ folder: { grants: { name: "x" } } }));
const labelled = defineRule("daoLabelled", () => ({ folder: { labels: { name: "x" } } }));
const folder = entity("folder", {
  name: string.default("f"),
  parts: hasMany(() => part),
  grants: manyToMany(() => part),
  labels: manyToMany(() => label),
}).rules(all);
const part = entity("part", { name: string, folder: belongsTo(() => folder) }).rules(all);
const page = entity("page", { text: string, folder: belongsTo(() => folder) }).rules({ ...all, create: [granted] });
const leaf = entity("leaf", {
  text: string,
  folder: belongsTo(() => folder),
  remarks: hasMany(() => remark),
}).rules({ ...all, create: [labelled] });
const remark = entity("remark", { folder: belongsTo(() => folder), leaf: belongsTo(() => leaf) }).rules(all);

describe.each(ALL_DATABASES)("decisions about a write and what others become, on %s", (name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof opened>;
  const opened = () =>
    createTestApp({ entities: [label, node, shelf, book, folder, part, page, leaf, remark], driver: database.driver });
  beforeAll(async () => {
    database = await open();
    app = opened();
    await app.api.ready;
  });
  beforeEach(async () => {
    for (const one of ["page", "remark", "leaf", "part", "folder", "node", "label", "book", "shelf"])
      await app.api.driver.deleteMany(one, { id: { null: false } });
    const system = app.api.asSystem();
    await system.label.create({ id: "t", name: "x" });
    await system.folder.create({ id: "f", labelsIds: ["t"] });
    await system.part.create({ id: "a", name: "x", folderId: "f" });
    await system.folder.update("f", { grantsIds: ["a"] });
    await system.node.create({ id: "p", state: "open", labelsIds: ["t"] });
    await system.node.create({ id: "c", state: "open", parentId: "p" });
    await system.shelf.create({ id: "s" });
    await system.book.create({ id: "b1", state: "open", shelfId: "s" });
    await system.book.create({ id: "b2", state: "closed", shelfId: "s" });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  const ann = () => app.as({ id: "ann" });

  it("do not take the pairs of a nested record for those of the record", async () => {
    const answer = await ann().request("PATCH", "/api/nodes/p", {
      state: "closed",
      children: { update: [{ id: "c", labels: { connect: ["t"] } }] },
    });
    expect(answer).toMatchObject({ status: 200 });
  });

  it("do not end with a pair whose deleted end does not declare it", async () => {
    const answer = await ann().request("POST", "/api/pages", {
      text: "new",
      folderId: "f",
      folder: { update: { parts: { delete: ["a"] } } },
    });
    expect(answer).toMatchObject({ status: 201 });
  });

  it("do not end with a pair that a later write of the same record removes", async () => {
    const answer = await ann().request("POST", "/api/leaves", {
      text: "new",
      folderId: "f",
      folder: { update: { name: "n" } },
      remarks: { create: [{ folderId: "f", folder: { update: { labels: { disconnect: ["t"] } } } }] },
    });
    expect(answer).toMatchObject({ status: 201 });
  });

  it.runIf(name === "PostgreSQL")("do not let a record that waited justify its own change", async () => {
    const answer = await whileHeld(
      String(database.url),
      {
        held: `select * from "book" where "id" = 'b1' for update`,
        meanwhile: `update "book" set "state" = 'other' where "id" = 'b2'`,
      },
      () => ann().request("PATCH", "/api/books/b1", { state: "closed" }),
    );
    expect((await app.api.driver.findOne("book", { id: "b1" }))?.state).toBe("open");
    expect(answer).toMatchObject({ status: 403 });
  });
});
