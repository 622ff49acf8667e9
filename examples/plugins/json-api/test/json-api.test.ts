import { belongsTo, entity, hasMany, int, memoryDriver, string } from "keelson";
import { createTestApp } from "keelson/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { jsonApi } from "../src/index.ts";

const author = entity("author", {
  name: string,
  email: string.readable("admin").optional(),
  books: hasMany((): unknown => book),
}).rules({ read: ["everyone"] });
const book = entity("book", { title: string, pages: int.default(0), author: belongsTo(() => author) }).rules({
  create: ["authenticated"],
  read: ["everyone"],
  update: ["authenticated"],
  delete: ["admin"],
});

async function boot() {
  const app = createTestApp({
    entities: [author, book],
    driver: memoryDriver(),
    plugins: (defaults) => defaults.replace("crud", jsonApi()),
  });
  onTestFinished(() => app.close());
  const system = app.api.asSystem();
  await system.author.create({ id: "a1", name: "Ursula", email: "u@example.org" });
  await system.book.create({ id: "b1", title: "The Dispossessed", pages: 387, authorId: "a1" });
  await system.book.create({ id: "b2", title: "Rocannon's World", pages: 117, authorId: "a1" });
  return app;
}
const type = { "content-type": "application/vnd.api+json" };

describe("JSON:API in place of crud", () => {
  it("gives documents with resources, and what they include once", async () => {
    const { as } = await boot();
    const { body, headers } = await as(null).request("GET", "/api/books?include=author&sort=pages");
    expect(headers.get("content-type")).toBe("application/vnd.api+json");
    const related = { author: { data: { type: "author", id: "a1" } } };
    expect(body).toMatchObject({
      data: [
        { type: "book", id: "b2", attributes: { title: "Rocannon's World" }, relationships: related },
        { type: "book", id: "b1", relationships: related },
      ],
      included: [{ type: "author", id: "a1", attributes: { name: "Ursula" } }],
    });
    expect(JSON.stringify(body)).not.toContain("u@example.org");
    const one = await as(null).request("GET", "/api/authors/a1?include=books");
    expect((one.body as { included: unknown[] }).included).toHaveLength(2);
  });

  it("filters, and goes on with the next page", async () => {
    const { request } = (await boot()).as(null);
    const found = await request("GET", "/api/books?filter[pages]=117");
    expect((found.body as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(["b2"]);
    const first = await request("GET", "/api/books?sort=pages&page[limit]=1");
    const next = /^<(.*)>; rel="next"$/.exec(first.headers.get("link") ?? "")?.[1];
    const second = await request("GET", `/api/books${next}`);
    expect((second.body as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(["b1"]);
    for (const query of ["filter[pages]=many", "filter[nothing]=1", "page=2"])
      expect((await request("GET", `/api/books?${query}`)).status).toBe(400);
  });

  it("creates, changes and deletes under the rules", async () => {
    const app = await boot();
    const [ann, root] = [app.as({ id: "ann" }), app.as({ id: "root", role: "admin" })];
    const relationships = { author: { data: { type: "author", id: "a1" } } };
    const sent = { data: { type: "book", attributes: { title: "New" }, relationships } };
    expect((await app.as(null).request("POST", "/api/books", sent, type)).status).toBe(401);
    const made = await ann.request("POST", "/api/books", sent, type);
    const { data } = made.body as { data: { id: string } };
    expect([made.status, made.headers.get("location")]).toEqual([201, `/api/books/${data.id}`]);
    const change = { data: { type: "book", id: data.id, attributes: { pages: 1 } } };
    const changed = await ann.request("PATCH", `/api/books/${data.id}`, change, type);
    expect(changed.body).toMatchObject({ data: { attributes: { title: "New", pages: 1, authorId: "a1" } } });
    expect((await ann.request("DELETE", `/api/books/${data.id}`)).status).toBe(403);
    expect((await root.request("DELETE", `/api/books/${data.id}`)).status).toBe(204);
    for (const wrong of [{}, { data: { type: "author" } }, { data: { type: "book", relationships: { books: {} } } }])
      expect((await ann.request("POST", "/api/books", wrong, type)).status).toBe(400);
  });
});
