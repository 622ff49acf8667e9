import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  action,
  belongsTo,
  embedded,
  entity,
  hasMany,
  importAction,
  keelson,
  manyToMany,
  memoryDriver,
  string,
} from "keelson";
import { createTestApp } from "keelson/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { tenancy } from "../src/index.ts";

const open = {
  create: ["authenticated"],
  read: ["authenticated"],
  update: ["authenticated"],
  delete: ["authenticated"],
};
const author = entity("author", { name: string, books: hasMany((): unknown => book) }).rules(open);
const book = entity("book", {
  title: string,
  author: belongsTo(() => author).optional(),
  tags: manyToMany(() => tag),
})
  .rules(open)
  .actions({
    import: importAction(),
    titles: action()
      .get()
      .rules(["authenticated"])
      .handler(async ({ driver }) => {
        const rows = await driver.findMany("book");
        return { titles: rows.map(({ title }) => title), count: await driver.count("book") };
      }),
    rename: action()
      .rules(["authenticated"])
      .handler(async ({ driver }) => ({
        changed: await driver.updateMany("book", { title: "one" }, { title: "taken" }),
      })),
    add: action()
      .rules(["authenticated"])
      .handler(async ({ driver }) => {
        const { id } = await driver.create("book", { id: crypto.randomUUID(), title: "made", tenantId: "green" });
        return { id };
      }),
  });
const tag = entity("tag", { name: string }).rules({ ...open, read: ["everyone"] });

const ann = { id: "ann", tenantId: "red" };
const ben = { id: "ben", tenantId: "blue" };
const eve = { id: "eve" };

describe.each([
  ["memory", () => memoryDriver()],
  ["SQLite", () => embedded({ file: join(mkdtempSync(join(tmpdir(), "tenancy-")), "app.db") })],
])("tenancy on %s", (_, makeDriver) => {
  async function boot() {
    const app = createTestApp({
      entities: [author, book, tag],
      driver: makeDriver(),
      plugins: [tenancy({ shared: ["tag"] })],
    });
    onTestFinished(() => app.close());
    const [red, blue] = [app.as(ann), app.as(ben)];
    const { body } = await red.request("POST", "/api/authors", { name: "A" });
    const { id: authorId } = body as { id: string };
    const made = await red.request("POST", "/api/books", { title: "one", authorId });
    return { app, red, blue, authorId, bookId: (made.body as { id: string }).id };
  }

  it("shows records, lists, counts and includes of the caller's tenant only", async () => {
    const { red, blue, bookId, authorId } = await boot();
    expect((await red.request("GET", `/api/books/${bookId}`)).body).toMatchObject({ title: "one", tenantId: "red" });
    expect((await blue.request("GET", `/api/books/${bookId}`)).status).toBe(404);
    expect((await blue.request("GET", "/api/books")).body).toEqual([]);
    expect((await blue.request("GET", `/api/books?authorId=${authorId}&include=author`)).body).toEqual([]);
    expect((await red.request("GET", "/api/books?include=author")).body).toMatchObject([{ author: { name: "A" } }]);
  });

  it("refuses writes on records of another tenant, and references to them", async () => {
    const { blue, bookId, authorId } = await boot();
    expect((await blue.request("PATCH", `/api/books/${bookId}`, { title: "mine" })).status).toBe(404);
    expect((await blue.request("DELETE", `/api/books/${bookId}`)).status).toBe(404);
    expect((await blue.request("POST", "/api/books", { title: "two", authorId })).status).toBe(400);
  });

  it("takes the tenant from the caller on create and import, whatever is sent", async () => {
    const { app, blue } = await boot();
    await blue.request("POST", "/api/books", { title: "two", tenantId: "red" });
    await blue.request("POST", "/api/books/import", [{ title: "three" }, { title: "four" }]);
    const rows = await app.api.asSystem().book.list({ sort: ["title"] });
    expect(rows.data.map((row) => [row.title, (row as { tenantId?: unknown }).tenantId])).toEqual([
      ["four", "blue"],
      ["one", "red"],
      ["three", "blue"],
      ["two", "blue"],
    ]);
  });

  it("holds for the drivers of handlers: reads, changes and new records", async () => {
    const { app, red, blue } = await boot();
    expect((await blue.request("GET", "/api/books/titles")).body).toEqual({ titles: [], count: 0 });
    expect((await blue.request("POST", "/api/books/rename")).body).toEqual({ changed: 0 });
    await blue.request("POST", "/api/books/add");
    expect((await blue.request("GET", "/api/books/titles")).body).toEqual({ titles: ["made"], count: 1 });
    expect((await red.request("GET", "/api/books/titles")).body).toEqual({ titles: ["one"], count: 1 });
    expect(await app.api.as(ben).book.count()).toBe(1);
  });

  it("gives a caller without a tenant nothing", async () => {
    const { app, bookId } = await boot();
    const none = app.as(eve);
    expect((await none.request("GET", "/api/books")).status).toBe(403);
    expect((await none.request("GET", `/api/books/${bookId}`)).status).toBe(403);
    expect((await none.request("POST", "/api/books", { title: "five" })).status).toBe(403);
  });

  it("leaves shared entities alone", async () => {
    const { app, red, blue } = await boot();
    await red.request("POST", "/api/tags", { name: "fiction" });
    expect((await blue.request("GET", "/api/tags")).body).toMatchObject([{ name: "fiction", tenantId: null }]);
    expect((await app.as(null).request("GET", "/api/tags")).body).toHaveLength(1);
  });
});

it("adds a field that an entity has already with an error that names both", () => {
  const clash = entity("clash", { tenantId: string }).rules(open);
  expect(() => keelson({ entities: [clash], driver: memoryDriver(), plugins: [tenancy()] })).toThrow(
    'plugin "example/tenancy": extend: clash has a field or relation "tenantId" already',
  );
});
