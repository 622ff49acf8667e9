import { setTimeout } from "node:timers/promises";
import {
  action,
  belongsTo,
  bulkUpdateAction,
  cloneAction,
  createEntityStep,
  createPlugin,
  type Driver,
  entity,
  hasMany,
  importAction,
  keelson,
  memoryDriver,
  noopLogger,
  type Plugin,
  string,
  updateEntityStep,
  workflow,
} from "keelson";
import type { PluginContext } from "keelson/plugin";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunningApp, request, startApp } from "../support/http.ts";
import { openPage } from "../support/page.ts";
import { ALL_DATABASES, type TestDatabase } from "../support/sql-databases.ts";

let work: (driver: Driver) => Promise<unknown>;
const all = ["everyone"];
const open = { read: all, create: all, update: all, delete: all };
const shelf = entity("shelf", { name: string.unique(), books: hasMany(() => book) })
  .timestamps(false)
  .rules(open);
const book = entity("book", {
  title: string.unique(),
  note: string.readable("admin").writable("admin").default("none"),
  live: string.default("no"),
  shelf: belongsTo(() => shelf)
    .optional()
    .onDelete("setNull"),
})
  .timestamps(false)
  .rules(open)
  .actions({
    import: importAction(),
    bulkUpdate: bulkUpdateAction(),
    clone: cloneAction(["title"]),
    work: action()
      .rules("everyone")
      .handler(async ({ driver }) => void (await work(driver))),
    byStep: action("by-step")
      .rules("everyone")
      .workflow(workflow("by-step").addStep(createEntityStep("one", "book", { title: "bad one" }))),
    changeByStep: action("change-by-step")
      .rules("everyone")
      .workflow(workflow("change-by-step").addStep(updateEntityStep("one", "book", { id: "b1" }, { title: "bad" }))),
  });

/** Refuses books with bad titles, and a book that leaves its shelf while it has a certain note. */
const censor = createPlugin({
  id: "acme/censor",
  setup({ records }) {
    records.validate(
      async (record, { before, cause }) => {
        await setTimeout(0);
        if (String(record.title).startsWith("bad")) return { title: `is not allowed to ${cause.principal?.kind}` };
        if (record.note === "bad") return { note: "is not allowed" };
        if (record.title === "empty") return {};
        return before !== null && before.shelfId !== null && record.shelfId === null ? { _: "must stay" } : undefined;
      },
      { appliesTo: ({ name }) => name === "book" },
    );
  },
});

describe.each(ALL_DATABASES)("a validator of a plugin on %s", (_name, openDatabase) => {
  let database: TestDatabase;
  let app: RunningApp;
  let api: ReturnType<typeof start>;
  const start = () =>
    keelson({
      entities: [shelf, book],
      driver: database.driver,
      plugins: [censor],
      logger: noopLogger,
      getUser: () => ({ id: "ann" }),
    });
  beforeAll(async () => {
    database = await openDatabase();
    api = start();
    app = await startApp(api);
  });
  afterAll(async () => {
    await app.close();
    await database.drop();
  });
  const stored = async () =>
    (await api.driver.findMany("book", { sort: [{ field: "title", direction: "asc" }] })).map(({ title }) => title);
  beforeEach(async () => {
    for (const name of ["book", "shelf"]) await api.driver.deleteMany(name, { id: { ne: "" } });
    await api.driver.create("shelf", { id: "s1", name: "first" });
    const base = { note: "none", live: "no" };
    await api.driver.create("book", { ...base, id: "b1", title: "good", shelfId: "s1" });
    await api.driver.create("book", { ...base, id: "b2", title: "better", shelfId: null });
  });
  const ask = async (method: string, path: string, body?: unknown) => {
    const { status, json } = await request(app.url, method, path, body === undefined ? {} : { body });
    return [status, json] as const;
  };
  const refused = [400, expect.objectContaining({ errors: { title: "is not allowed to user" } })];

  it.each<readonly [string, string, string, unknown]>([
    ["a create", "POST", "/api/books", { title: "bad" }],
    ["an update", "PATCH", "/api/books/b1", { title: "bad" }],
    ["an upsert of a new record", "PUT", "/api/books?_on=title", { title: "bad" }],
    ["a bulk update", "POST", "/api/books/bulk-update", { ids: ["b2"], data: { title: "bad" } }],
    ["a step of a workflow", "POST", "/api/books/by-step", undefined],
    ["a step that changes a record", "POST", "/api/books/change-by-step", undefined],
    ["a nested create", "POST", "/api/shelves", { name: "second", books: { create: [{ title: "bad" }] } }],
    ["a nested update", "PATCH", "/api/shelves/s1", { books: { update: [{ id: "b1", title: "bad" }] } }],
  ])("refuses %s, and nothing is stored", async (_, method, path, body) => {
    const [status, json] = await ask(method, path, body);
    expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining("is not allowed to user")]);
    expect(await stored()).toEqual(["better", "good"]);
    expect(await api.driver.count("shelf")).toBe(1);
  });

  it("refuses one of several changes of a batch, and rolls the others back", async () => {
    const [status, json] = await ask("POST", "/api/batch", [
      { method: "PATCH", path: "/books/b2", body: { title: "best" } },
      { method: "POST", path: "/books", body: { title: "bad" } },
    ]);
    expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining("is not allowed to user")]);
    expect(await stored()).toEqual(["better", "good"]);
  });

  it("refuses single rows of an import, and stores the others", async () => {
    const [status, json] = await ask("POST", "/api/books/import", [{ title: "a" }, { title: "bad" }, { title: "c" }]);
    expect([status, json]).toEqual([
      200,
      { created: 2, updated: 0, failed: [{ row: 2, errors: { title: "is not allowed to user" } }] },
    ]);
    expect(await stored()).toEqual(["a", "better", "c", "good"]);
  });

  it.each<readonly [string, typeof work]>([
    ["create", (driver) => driver.create("book", { id: "x", title: "bad", note: "n", live: "no", shelfId: null })],
    [
      "createMany",
      (driver) =>
        driver.createMany(
          "book",
          ["fine", "bad"].map((title) => ({ id: title, title, note: "n", live: "no", shelfId: null })),
        ),
    ],
    ["update", (driver) => driver.update("book", { id: "b1" }, { title: "bad" })],
    ["updateMany", (driver) => driver.updateMany("book", { id: { in: ["b2"] } }, { title: "bad" })],
  ])("refuses %s through a handler's driver", async (_, write) => {
    work = write;
    expect(await ask("POST", "/api/books/work")).toEqual(refused);
    expect(await stored()).toEqual(["better", "good"]);
  });

  it("refuses in-process calls, of users and of the system", async () => {
    await expect(api.as({ id: "ann" }).book.create({ title: "bad" })).rejects.toThrow("Validation failed");
    await expect(api.asSystem().book.update("b1", { title: "bad" })).rejects.toMatchObject({
      errors: { title: "is not allowed to system" },
    });
    expect(await stored()).toEqual(["better", "good"]);
  });

  it("refuses a deletion that would change a record to an invalid state", async () => {
    const [status, json] = await ask("DELETE", "/api/shelves/s1");
    expect([status, json.errors]).toEqual([400, { _: "must stay" }]);
    expect(await api.driver.count("shelf")).toBe(1);
  });

  it("does not reveal the names of fields that the caller may not know", async () => {
    work = (driver) => driver.update("book", { id: "b1" }, { note: "bad" });
    const [, json] = await ask("POST", "/api/books/work");
    expect(json.errors).toEqual({ _: "is not allowed" });
    expect(JSON.stringify(json)).not.toContain('"note"');
  });

  it("denies when it returns anything but messages", async () => {
    expect((await ask("POST", "/api/books", { title: "empty" }))[0]).toBe(500);
    expect(await stored()).toEqual(["better", "good"]);
  });

  it("lets everything else pass", async () => {
    expect((await ask("POST", "/api/books", { title: "fine" }))[0]).toBe(201);
    expect((await ask("POST", "/api/books/b2/clone"))[0]).not.toBe(500);
  });
});

describe("a validator of a plugin", () => {
  const start = (setup: (context: PluginContext) => void) => (): unknown =>
    keelson({ entities: [shelf, book], driver: memoryDriver(), plugins: [createPlugin({ id: "acme/one", setup })] });

  it("works as shown on the page about hooks", async () => {
    const page = openPage("reference/hooks");
    const { houseStyle } = await page.load<{ houseStyle: Plugin }>("house-style.ts");
    const api = keelson({ entities: [shelf, book], driver: memoryDriver(), plugins: [houseStyle], logger: noopLogger });
    await expect(api.asSystem().book.create({ title: "Buy!" })).rejects.toMatchObject({
      errors: { title: "must not shout" },
    });
    expect(await api.asSystem().book.create({ title: "Buy" })).toMatchObject({ title: "Buy" });
    await api.close();
    page.remove();
  });

  it("stops the start when it is not a function, or has unknown options", () => {
    expect(start(({ records }) => records.validate("title" as never))).toThrow(
      'plugin "acme/one": records.validate: it takes a function',
    );
    expect(start(({ records }) => records.validate(() => undefined, { applysTo: 1 } as never))).toThrow("appliesTo");
  });
});
