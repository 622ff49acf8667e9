import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  belongsTo,
  bulkUpdateAction,
  defineRule,
  entity,
  hasMany,
  manyToMany,
  memoryDriver,
  string,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";

const visible = defineRule("nestedRightsVisible", () => ({ title: { ne: "hidden" } }));

const user = entity("user", { name: string, notes: hasMany(() => note) })
  .timestamps(false)
  .ownedBy("id")
  .rules({ read: ["everyone"], create: ["everyone"], update: ["everyone"] });
const note = entity("note", { title: string, user: belongsTo(() => user).optional(), parts: hasMany(() => part) })
  .timestamps(false)
  .ownedBy("user")
  .rules({ read: [visible], create: ["everyone"], update: ["everyone"] });
const part = entity("part", { title: string, note: belongsTo(() => note).optional() })
  .timestamps(false)
  .rules({ read: [visible], create: ["everyone"], update: ["everyone"], delete: ["everyone"] });

const folder = entity("folder", { title: string })
  .timestamps(false)
  .rules({ read: ["everyone"], update: ["everyone"] });
const inOpenFolder = defineRule("nestedRightsInOpenFolder", () => ({ folder: { title: "open" } }));
const page = entity("page", { folder: belongsTo(() => folder), topic: belongsTo(() => folder) })
  .timestamps(false)
  .rules({ read: [inOpenFolder], update: ["everyone"] });

it("requires the right to read a record before its related records change", async () => {
  const app = createTestApp({
    entities: [folder, page],
    driver: memoryDriver({
      folder: ["a", "b"].map((id) => ({ id, title: "open" })),
      page: [{ id: "p", folderId: "a", topicId: "b" }],
    }),
  });
  const change = (title: string) => ({ folder: { update: { title } }, topic: { update: { title } } });
  const send = async (title: string) => (await app.as(null).request("PATCH", "/api/pages/p", change(title))).status;
  expect([await send("closed"), await send("open")]).toEqual([200, 403]);
  expect(await app.api.asSystem().folder.get("a")).toMatchObject({ title: "closed" });
  await app.close();
});

describe("a nested write", () => {
  const open = () =>
    createTestApp({
      entities: [user, note, part],
      driver: memoryDriver({
        user: ["ann", "bob"].map((id) => ({ id, name: id })),
        note: [
          { id: "n1", title: "open", userId: "ann" },
          { id: "n2", title: "hidden", userId: "ann" },
          { id: "n3", title: "open", userId: null },
        ],
        part: [{ id: "p1", title: "hidden", noteId: "n1" }],
      }),
    });
  let app: ReturnType<typeof open>;
  beforeEach(() => {
    app = open();
  });
  afterEach(() => app.close());

  const send = async (id: string | null, role: string, method: string, path: string, body: unknown) =>
    (await app.as(id === null ? null : { id, role }).request(method, `/api/${path}`, body)).status;
  const ownerOf = async (id: string) => (await app.api.asSystem().note.get(id)).userId;

  it("does not give a record away, or take one", async () => {
    for (const connect of ["bob", "ann"])
      expect(await send("bob", "user", "PATCH", "notes/n1", { user: { connect } })).toBe(connect === "ann" ? 200 : 403);
    expect(await send("ann", "user", "PATCH", "notes/n1", { user: { disconnect: true } })).toBe(403);
    expect(await send("ann", "user", "PATCH", "notes/n1", { userId: "ann", user: { connect: "bob" } })).toBe(400);
    expect(await ownerOf("n1")).toBe("ann");
    expect(await send("eve", "admin", "PATCH", "notes/n1", { user: { connect: "bob" } })).toBe(200);
    expect(await ownerOf("n1")).toBe("bob");
  });

  it("does not create the owner of a record", async () => {
    const body = { title: "t", user: { create: { name: "cem" } } };
    expect(await send("bob", "user", "PATCH", "notes/n3", body)).toBe(403);
    expect(await send("bob", "user", "POST", "notes", body)).toBe(403);
    expect(await send(null, "", "POST", "notes", body)).toBe(401);
    expect(await send("eve", "admin", "POST", "notes", body)).toBe(201);
  });

  it("names no other caller as the owner of a new record", async () => {
    expect(await send("bob", "user", "POST", "notes", { title: "t", user: { connect: "bob" } })).toBe(201);
    expect(await send("bob", "user", "POST", "notes", { title: "t", user: { connect: "ann" } })).toBe(403);
  });

  it("does not reveal an unreadable record's references", async () => {
    expect(await send("bob", "user", "PATCH", "notes/n2", { user: { update: { name: "found" } } })).toBe(403);
    expect(await send("bob", "user", "PATCH", "notes/n1", { user: { update: { name: "found" } } })).toBe(200);
  });

  it("does not reveal the owner of an unreadable record", async () => {
    for (const words of [{ update: [{ id: "p1", title: "x" }] }, { disconnect: ["p1"] }, { delete: ["p1"] }])
      for (const at of ["n1", "n3"])
        expect(await send("bob", "user", "PATCH", `notes/${at}`, { parts: words })).toBe(404);
  });

  it("stores the pairs of a record before the records that refer to it", async () => {
    const tag = entity("tag", { word: string })
      .timestamps(false)
      .rules({ read: ["everyone"] });
    const tagged = defineRule("nestedRightsTagged", () => ({ order: { tags: { word: "gift" } } }));
    const order = entity("order", { number: string, tags: manyToMany(() => tag), lines: hasMany(() => line) })
      .timestamps(false)
      .rules({ read: ["everyone"], create: ["everyone"] });
    const line = entity("line", { sku: string, order: belongsTo(() => order) })
      .timestamps(false)
      .rules({ read: ["everyone"], create: [tagged] });
    const shop = createTestApp({
      entities: [tag, order, line],
      driver: memoryDriver({ tag: [{ id: "t1", word: "gift" }] }),
    });
    const lines = { create: [{ sku: "a" }] };
    const post = async (body: object) => (await shop.as(null).request("POST", "/api/orders", body)).status;
    expect(await post({ number: "1", tagsIds: ["t1"], lines })).toBe(201);
    expect(await post({ number: "2", lines })).toBe(401);
    await shop.close();
  });
});

describe("a bulk update with nested writes", () => {
  const mine = defineRule("nestedRightsMine", ({ user: caller }) => ({ boss: String(caller?.id) }));
  const label = entity("label", { word: string })
    .timestamps(false)
    .rules({ read: ["everyone"], create: ["everyone"] });
  const task = entity("task", {
    boss: string,
    title: string,
    label: belongsTo(() => label).optional(),
    labels: manyToMany(() => label),
  })
    .timestamps(false)
    .rules({ read: ["everyone"], update: [mine] })
    .actions({ bulk: bulkUpdateAction });

  it.each([
    ["reference", { title: "new", label: { create: { word: "new" } } }],
    ["pair", { title: "new", labels: { create: [{ word: "new" }] } }],
  ])("leaves out records that the caller may not change, and those that do not exist: a %s", async (_, data) => {
    const rows = ["ann", "bob"].map((boss) => ({ id: boss, boss, title: boss }));
    const app = createTestApp({ entities: [task, label], driver: memoryDriver({ task: rows }) });
    const send = async (...ids: string[]) =>
      (await app.as({ id: "ann" }).request("PUT", "/api/tasks/bulk", { ids, data })).body;
    expect(await send("ann", "bob", "none")).toEqual({ count: 1 });
    expect(await send("bob")).toEqual({ count: 0 });
    expect(await app.api.driver.count("label")).toBe(1);
    await app.close();
  });
});
