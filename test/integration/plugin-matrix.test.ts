import {
  action,
  belongsTo,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  countAction,
  createEntityStep,
  createPlugin,
  deleteEntityStep,
  entity,
  existsAction,
  exportAction,
  hasMany,
  importAction,
  keelson,
  manyToMany,
  noopLogger,
  string,
  updateEntityStep,
  workflow,
} from "keelson";
import { narrowed, withMiddleware } from "keelson/plugin";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunningApp, request, startApp } from "../support/http.ts";
import { ALL_DATABASES, type TestDatabase } from "../support/sql-databases.ts";

const all = ["authenticated"];
const open = { read: all, create: all, update: all, delete: all };
const shelf = entity("shelf", { name: string.unique(), books: hasMany(() => book) })
  .timestamps(false)
  .rules(open);
const tag = entity("tag", { word: string, books: manyToMany(() => book) })
  .timestamps(false)
  .rules(open);
const book = entity("book", {
  title: string.searchable().unique(),
  note: string.default("none"),
  shelf: belongsTo(() => shelf)
    .optional()
    .onDelete("cascade"),
  tags: manyToMany(() => tag),
})
  .timestamps(false)
  .rules(open)
  .actions({
    count: countAction,
    exists: existsAction,
    export: exportAction,
    import: importAction({ upsertBy: "title" }),
    bulkUpdate: bulkUpdateAction,
    bulkDelete: bulkDeleteAction,
    clone: cloneAction(["title"]),
    titles: action()
      .get()
      .rules("authenticated")
      .handler(async ({ driver }) => (await driver.findMany("book")).map(({ title }) => title)),
    byClient: action("by-client")
      .get()
      .rules("authenticated")
      .handler(async ({ client }) => (await client("book").list()).data),
    add: action()
      .rules("authenticated")
      .handler(async ({ driver }) => void (await driver.createMany("book", [row("new"), row("newer")]))),
    spoil: action()
      .rules("authenticated")
      .handler(async ({ driver }) => void (await driver.updateMany("book", { title: "Dune" }, { note: "spoilt" }))),
    burn: action()
      .rules("authenticated")
      .handler(async ({ driver }) => void (await driver.delete("book", { id: "b1" }))),
    addByStep: action("add-by-step")
      .rules("authenticated")
      .workflow(workflow("add-by-step").addStep(createEntityStep("one", "book", { title: "new" }))),
    spoilByStep: action("spoil-by-step")
      .rules("authenticated")
      .workflow(workflow("spoil-by-step").addStep(updateEntityStep("one", "book", { id: "b1" }, { note: "spoilt" }))),
    burnByStep: action("burn-by-step")
      .rules("authenticated")
      .workflow(workflow("burn-by-step").addStep(deleteEntityStep("one", "book", { id: "b1" }))),
  });
const row = (title: string) => ({ id: title, title, note: "none", shelfId: null, wall: null });

const isWalled = ({ name }: { readonly name: string }): boolean => name === "book";
const heard: string[] = [];
/** Books belong to a wall, and callers see those of their own. */
const walls = createPlugin({
  id: "acme/walls",
  extend: { book: { wall: string.readonly().optional() } },
  setup({ records }) {
    records.policy({
      name: "acme/walls",
      appliesTo: isWalled,
      visible(question) {
        const { user } = question.principal;
        if (user !== null) question.require({ wall: user.wall as string });
      },
    });
    records.stamp(({ principal: { user } }) => (user === null ? undefined : { wall: user.wall }), {
      appliesTo: isWalled,
    });
  },
  // Policies apply to operations; a handler's driver is narrowed by hand.
  wrapHandlerDriver(driver, { entities }, scope) {
    const wall = scope?.principal.user?.wall;
    if (wall === undefined) return driver;
    return withMiddleware(driver, (statement, next) =>
      next("entity" in statement && isWalled(statement.entity) ? narrowed(statement, { wall }, entities) : statement),
    );
  },
});
const listener = createPlugin({
  id: "acme/listener",
  setup({ records }) {
    records.onChange(
      (changes) =>
        void heard.push(...changes.map(({ kind, id, cause }) => `${cause.principal?.user?.id} ${kind} ${id}`)),
      { appliesTo: isWalled },
    );
  },
});

describe.each(ALL_DATABASES)("plugins and surfaces on %s", (_name, openDatabase) => {
  let database: TestDatabase;
  let app: RunningApp;
  let api: ReturnType<typeof start>;
  const start = () =>
    keelson({
      entities: [shelf, tag, book],
      driver: database.driver,
      plugins: [walls, listener],
      logger: noopLogger,
      getUser: ({ headers }) => {
        const id = headers.get("authorization")?.slice(7);
        return id === undefined ? null : { id, wall: id === "ann" ? "red" : "blue" };
      },
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
  const stored = async () => {
    const rows = await api.driver.findMany("book", { sort: [{ field: "title", direction: "asc" }] });
    return rows.map(({ title, note, wall }) => `${title} (${note}) behind ${wall}`);
  };
  const DUNE = "Dune (none) behind red";
  beforeEach(async () => {
    const system = api.asSystem();
    for (const { id } of (await system.book.list()).data) await system.book.delete(id);
    for (const { id } of (await system.tag.list()).data) await system.tag.delete(id);
    for (const { id } of (await system.shelf.list()).data) await system.shelf.delete(id);
    await system.shelf.create({ id: "s1", name: "first" });
    await system.tag.create({ id: "t1", word: "sand" });
    await system.book.create({ id: "b1", title: "Dune", shelfId: "s1", tagsIds: ["t1"], wall: "red" });
    heard.length = 0;
  });
  const ask = (user: "ann" | "ben", method: string, path: string, body?: unknown) =>
    request(app.url, method, `/api${path}`, { token: user, ...(body === undefined ? {} : { body }) });

  /** Everything that a caller may receive, as text. */
  const told = async (user: "ann" | "ben", path: string): Promise<string> => {
    const response = await fetch(`${app.url}/api${path}`, { headers: { authorization: `Bearer ${user}` } });
    return `${response.status} ${response.headers.get("x-total-count") ?? ""} ${await response.text()}`;
  };
  it.each([
    ["a list", "/books", "Dune"],
    ["the total of a list", "/books?_limit=1", "200 1 "],
    ["a record", "/books/b1", "Dune"],
    ["a filter", "/books?title_like=une", "Dune"],
    ["a filter on related records", "/shelves?books.title=Dune", "first"],
    ["a condition on related records", `/shelves?${where({ books: { some: { title: "Dune" } } })}`, "first"],
    ["a search", "/books?q=dune", "Dune"],
    ["an aggregate", "/books/aggregate?group=title&count", "Dune"],
    ["an include", "/shelves?include=books", "Dune"],
    [
      "an include that is counted",
      `/shelves?include=${encodeURIComponent('{"books":{"count":true,"limit":1}}')}`,
      "Dune",
    ],
    ["an include of many to many", "/tags?include=books", "Dune"],
    ["the action count", "/books/count", '"count":1'],
    ["the action exists", "/books/b1/exists", '"exists":true'],
    ["an export as JSON", "/books/export?format=json", "Dune"],
    ["an export as CSV", "/books/export?format=csv", "Dune"],
    ["a handler's driver", "/books/titles", "Dune"],
    ["a handler's client", "/books/by-client", "Dune"],
  ])("a restriction applies to %s", async (_, path, shown) => {
    expect(await told("ann", path)).toContain(shown);
    expect(await told("ben", path)).not.toContain(shown);
  });

  it("a restriction applies to in-process clients", async () => {
    const [ann, ben] = [api.as({ id: "ann", wall: "red" }).book, api.as({ id: "ben", wall: "blue" }).book];
    expect([await ann.count(), await ben.count()]).toEqual([1, 0]);
    expect([(await ann.list()).data.length, (await ben.list()).data.length]).toEqual([1, 0]);
    await expect(ben.get("b1")).rejects.toMatchObject({ status: 404 });
    expect((await ann.aggregate({ count: true }))[0]).toMatchObject({ count: 1 });
    expect((await ben.aggregate({ count: true }))[0]?.count ?? 0).toBe(0);
  });

  it.each<[title: string, method: string, path: string, body?: unknown]>([
    ["an update", "PATCH", "/books/b1", { note: "spoilt" }],
    ["a deletion", "DELETE", "/books/b1"],
    ["a bulk update", "POST", "/books/bulk-update", { ids: ["b1"], data: { note: "spoilt" } }],
    ["a bulk deletion", "POST", "/books/bulk-delete", { ids: ["b1"] }],
    ["a clone", "POST", "/books/b1/clone"],
    ["an import that changes records", "POST", "/books/import", [{ title: "Dune", note: "spoilt" }]],
    ["an upsert", "PUT", "/books?_on=title", { title: "Dune", note: "spoilt" }],
    ["a nested update", "PATCH", "/shelves/s1", { books: { update: [{ id: "b1", note: "spoilt" }] } }],
    ["a nested disconnection", "PATCH", "/shelves/s1", { books: { disconnect: ["b1"] } }],
    ["a pair from the other side", "PATCH", "/tags/t1", { booksIds: ["b1"] }],
    ["a batch", "POST", "/batch", [{ method: "PATCH", path: "/books/b1", body: { note: "spoilt" } }]],
    ["a handler's driver that updates", "POST", "/books/spoil"],
    ["a handler's driver that deletes", "POST", "/books/burn"],
    ["a step that updates", "POST", "/books/spoil-by-step"],
    ["a step that deletes", "POST", "/books/burn-by-step"],
  ])("a restriction hides other callers' records from %s", async (_, method, path, body) => {
    await ask("ben", method, path, body);
    expect(await stored()).toEqual([DUNE]);
    expect(await api.asSystem().book.get("b1", { include: ["shelf", "tags"] })).toMatchObject({
      shelf: { id: "s1" },
      tags: [{ id: "t1" }],
    });
    expect(heard).toEqual([]);
  });

  it.each<[title: string, method: string, path: string, body: unknown, count?: number]>([
    ["a create", "POST", "/books", { title: "new" }],
    ["a create that says otherwise", "POST", "/books", { title: "new", wall: "red" }],
    ["an import", "POST", "/books/import", [{ title: "new" }, { title: "newer" }], 2],
    ["an upsert", "PUT", "/books?_on=title", { title: "new" }],
    ["a nested create", "PATCH", "/shelves/s1", { books: { create: [{ title: "new" }] } }],
    ["a nested create with its parent", "POST", "/shelves", { name: "second", books: { create: [{ title: "new" }] } }],
    ["a batch", "POST", "/batch", [{ method: "POST", path: "/books", body: { title: "new" } }]],
    ["a handler's driver", "POST", "/books/add", undefined, 2],
    ["a step", "POST", "/books/add-by-step", undefined],
  ])("a stamp and a listener apply to %s", async (_, method, path, body, count = 1) => {
    expect((await ask("ben", method, path, body)).status).toBeLessThan(300);
    expect(await stored()).toEqual([
      DUNE,
      ...["new", "newer"].slice(0, count).map((title) => `${title} (none) behind blue`),
    ]);
    expect(heard).toEqual(Array.from({ length: count }, () => expect.stringMatching(/^ben create /)));
  });

  it("a stamp and a listener apply to an in-process client", async () => {
    await api.as({ id: "ben", wall: "blue" }).book.create({ title: "new" });
    expect(await stored()).toEqual([DUNE, "new (none) behind blue"]);
    expect(heard).toEqual([expect.stringMatching(/^ben create /)]);
  });

  it.each<readonly [string, string, string, unknown, readonly string[]]>([
    ["an update", "PATCH", "/books/b1", { note: "x" }, ["ann update b1"]],
    ["a bulk update", "POST", "/books/bulk-update", { ids: ["b1"], data: { note: "x" } }, ["ann update b1"]],
    ["a bulk deletion", "POST", "/books/bulk-delete", { ids: ["b1"] }, ["ann delete b1"]],
    ["a nested update", "PATCH", "/shelves/s1", { books: { update: [{ id: "b1", note: "x" }] } }, ["ann update b1"]],
    ["a disconnection", "PATCH", "/shelves/s1", { books: { disconnect: ["b1"] } }, ["ann update b1"]],
    ["an import that changes records", "POST", "/books/import", [{ title: "Dune", note: "x" }], ["ann update b1"]],
    ["an upsert", "PUT", "/books?_on=title", { title: "Dune", note: "x" }, ["ann update b1"]],
    ["a batch", "POST", "/batch", [{ method: "DELETE", path: "/books/b1" }], ["ann delete b1"]],
    ["a cascade", "DELETE", "/shelves/s1", undefined, ["ann delete b1"]],
    ["a handler's driver", "POST", "/books/spoil", undefined, ["ann update b1"]],
    ["a step", "POST", "/books/burn-by-step", undefined, ["ann delete b1"]],
  ])("a listener receives changes by %s", async (_, method, path, body, expected) => {
    expect((await ask("ann", method, path, body)).status).toBeLessThan(300);
    expect(heard).toEqual(expected);
  });

  it("a listener receives changes of many-to-many pairs", async () => {
    await ask("ann", "PATCH", "/books/b1", { tagsIds: [] });
    await ask("ann", "PATCH", "/books/b1", { tagsIds: ["t1"] });
    expect(heard.filter((one) => one.includes("link"))).toEqual(["ann unlink b1", "ann link b1"]);
  });
});

function where(conditions: object): string {
  return `_where=${encodeURIComponent(JSON.stringify(conditions))}`;
}
