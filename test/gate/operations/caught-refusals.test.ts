import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { action, belongsTo, createPlugin, defineRule, entity, hasMany, string } from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";
import { whileHeld } from "../../support/while-held.ts";

// In a transaction, a record that a validator, a listener or a rule refuses after its statement is not stored, even if the
// handler catches the error.

const everyone = ["everyone"];
const open = { read: everyone, create: everyone, update: everyone, delete: everyone };
const ofMember = defineRule("caughtOfMember", ({ user }) => ({ folder: { members: { userId: String(user?.id) } } }));

const folder = entity("folder", { name: string, members: hasMany(() => access), notes: hasMany(() => note) }).rules(
  open,
);
const access = entity("access", { userId: string, folder: belongsTo(() => folder) }).rules(open);
/** Creates records, and tells how many were refused. */
async function createEach(records: { create(data: never): Promise<unknown> }, all: readonly object[]) {
  let refused = 0;
  for (const data of all) await records.create(data as never).catch(() => refused++);
  return { refused };
}

const TITLES = [{ title: "good" }, { title: "bad" }];
const note = entity("note", { text: string.unique(), folder: belongsTo(() => folder) })
  .rules({ read: everyone, create: [ofMember] })
  .actions({
    some: action()
      .rules("everyone")
      .handler(({ client }) => createEach(client("note"), [{ text: "late", folderId: "f" }])),
  });
const book = entity("book", { title: string })
  .rules(open)
  .actions({
    some: action()
      .rules("everyone")
      .handler(({ client }) => createEach(client("book"), TITLES)),
    together: action()
      .rules("everyone")
      .handler(({ transaction }) => transaction(({ client }) => createEach(client("book"), TITLES))),
    logs: action()
      .rules("everyone")
      .handler(({ transaction }) => transaction(({ client }) => createEach(client("book"), [{ title: "unlogged" }]))),
    renames: action()
      .rules("everyone")
      .handler(({ transaction }) =>
        transaction(async ({ client }) => {
          const { id } = (await client("book").create({ title: "good" })) as { id: string };
          await client("book")
            .update(id, { title: "bad" })
            .catch(() => undefined);
          return { done: true };
        }),
      ),
  });
const censor = createPlugin({
  id: "acme/censor",
  setup({ records }) {
    records.onChange(
      async (changes) => {
        if (changes.some(({ after }) => after?.title === "unlogged")) throw new Error("the log is full");
      },
      { appliesTo: ({ name }) => name === "book" },
    );
    records.validate((record) => (record.title === "bad" ? { title: "is not allowed" } : undefined), {
      appliesTo: ({ name }) => name === "book",
    });
  },
});

describe.each(ALL_DATABASES)("a refusal that a handler catches, on %s", (name, openDatabase) => {
  let database: Awaited<ReturnType<typeof openDatabase>>;
  let app: ReturnType<typeof createTestApp>;
  beforeAll(async () => {
    database = await openDatabase();
    app = createTestApp({
      entities: [folder, access, note, book],
      driver: database.driver,
      plugins: [idempotency(), censor],
    });
    await app.api.ready;
  });
  beforeEach(async () => {
    const { driver } = app.api;
    for (const one of ["note", "access", "folder", "book"]) await driver.deleteMany(one, { id: { null: false } });
    const times = { createdAt: new Date(), updatedAt: new Date() };
    await driver.create("folder", { id: "f", name: "f", ...times });
    await driver.create("access", { id: "a", userId: "ann", folderId: "f", ...times });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  let keys = 0;
  const post = (path: string, hasKey: boolean) =>
    app.as({ id: "ann" }).request("POST", path, undefined, hasKey ? { "idempotency-key": `k${keys++}` } : {});
  const titles = async () => (await app.api.driver.findMany("book", {})).map(({ title }) => title).sort();

  it("stores the other records outside a transaction", async () => {
    expect((await post("/api/books/some", false)).body).toEqual({ refused: 1 });
    expect(await titles()).toEqual(["good"]);
  });
  it.each([
    ["/api/books/some", true],
    ["/api/books/together", false],
    ["/api/books/together", true],
    ["/api/books/renames", false],
  ])("stores no record that a validator refused: %s, with a key: %s", async (path, hasKey) => {
    expect((await post(path, hasKey)).status).toBe(400);
    expect(await titles()).toEqual([]);
  });
  it("stores no record whose listener threw", async () => {
    expect((await post("/api/books/logs", false)).status).toBe(500);
    expect(await titles()).toEqual([]);
  });
  it.runIf(name === "PostgreSQL").each([false, true])(
    "stores no record whose right ended while it waited (key: %s)",
    async (hasKey) => {
      const held = `insert into "note" ("id", "text", "folderId", "createdAt", "updatedAt") values ('x', 'late', 'f', now(), now())`;
      const meanwhile = `delete from "access" where "userId" = 'ann'`;
      const answer = await whileHeld(String(database.url), { held, meanwhile }, () => post("/api/notes/some", hasKey));
      expect(await app.api.driver.count("note")).toBe(0);
      expect(answer.status).toBe(hasKey ? 403 : 200);
    },
  );
});
