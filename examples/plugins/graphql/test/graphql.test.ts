import { belongsTo, datetime, entity, hasMany, int, memoryDriver, string } from "keelson";
import { createTestApp } from "keelson/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { graphql } from "../src/index.ts";

const author = entity("author", {
  name: string,
  email: string.readable("admin").optional(),
  books: hasMany((): unknown => book),
}).rules({ read: ["everyone"], create: ["admin"] });
const book = entity("book", {
  title: string,
  pages: int.default(0),
  out: datetime.optional(),
  author: belongsTo(() => author),
}).rules({ read: ["everyone"], create: ["authenticated"], update: ["authenticated"], delete: ["admin"] });
const diary = entity("diary", { text: string }).rules({ read: ["admin"] });

async function boot() {
  const app = createTestApp({ entities: [author, book, diary], driver: memoryDriver(), plugins: [graphql()] });
  onTestFinished(() => app.close());
  const system = app.api.asSystem();
  await system.author.create({ id: "a1", name: "Ursula", email: "u@example.org" });
  await system.book.create({ id: "b1", title: "The Dispossessed", pages: 387, authorId: "a1", out: new Date(0) });
  await system.book.create({ id: "b2", title: "Rocannon's World", pages: 117, authorId: "a1" });
  await system.diary.create({ id: "d1", text: "dear diary" });
  const ask = async (query: string, user: { id: string; role?: string } | null = null, variables?: object) =>
    (await app.as(user).request("POST", "/graphql", { query, variables })).body as {
      data?: Record<string, unknown>;
      errors?: { message: string; extensions?: { code?: string } }[];
    };
  return { app, ask };
}

describe("GraphQL", () => {
  it("reads records, lists and relations of relations", async () => {
    const { ask } = await boot();
    const { data } = await ask('{ book(id: "b1") { title out author { name books { title } } } }');
    expect(data?.book).toEqual({
      title: "The Dispossessed",
      out: "1970-01-01T00:00:00.000Z",
      author: { name: "Ursula", books: [{ title: "The Dispossessed" }, { title: "Rocannon's World" }] },
    });
    const listed = await ask(
      'query ($where: JSON) { books(where: $where, sort: ["pages"], limit: 5) { ...short } } fragment short on Book { id author { id } }',
      null,
      {
        where: { pages: { gt: 100 } },
      },
    );
    expect(listed.data?.books).toEqual(["b2", "b1"].map((id) => ({ id, author: { id: "a1" } })));
  });

  it("shows fields and records as rules and masks let it", async () => {
    const { ask } = await boot();
    const query = '{ author(id: "a1") { name email } }';
    expect((await ask(query)).data?.author).toEqual({ name: "Ursula", email: null });
    expect((await ask(query, { id: "root", role: "admin" })).data?.author).toMatchObject({ email: "u@example.org" });
    const { data, errors } = await ask('{ diary(id: "d1") { text } }', { id: "ann" });
    expect(data?.diary).toBeNull();
    expect(errors?.[0]?.extensions?.code).toBe("FORBIDDEN");
    expect((await ask('{ authors(where: "{}") { id } }')).errors).toBeDefined();
  });

  it("creates, changes and deletes under the rules, and names what is wrong", async () => {
    const { app, ask } = await boot();
    const create = 'mutation { createBook(data: { title: "New", authorId: "a1" }) { id title pages } }';
    expect((await ask(create)).errors?.[0]?.extensions?.code).toBe("UNAUTHENTICATED");
    expect((await ask(create, { id: "ann" })).data?.createBook).toMatchObject({ title: "New", pages: 0 });
    const wrong = await ask('mutation { createBook(data: { title: "New", authorId: "nowhere" }) { id } }', {
      id: "ann",
    });
    expect(wrong.errors?.[0]?.extensions?.code).toBe("VALIDATION_FAILED");
    expect((await ask('mutation { updateBook(id: "b1", data: { pages: 1 }) { pages } }', { id: "ann" })).data).toEqual({
      updateBook: { pages: 1 },
    });
    expect((await ask('mutation { deleteBook(id: "b1") }', { id: "ann" })).errors?.[0]?.extensions?.code).toBe(
      "FORBIDDEN",
    );
    expect((await ask('mutation { deleteBook(id: "b1") }', { id: "root", role: "admin" })).data).toEqual({
      deleteBook: true,
    });
    expect(await app.api.driver.count("book")).toBe(2);
  });

  it("refuses documents that go too deep, and requests that are not documents", async () => {
    const { app, ask } = await boot();
    const deep = `{ books { ${"author { books { ".repeat(5)} id ${"} }".repeat(5)} } }`;
    expect((await ask(deep)).errors?.[0]?.message).toMatch(/include goes deeper than/);
    expect((await ask("{ nothing }")).errors).toBeDefined();
    expect((await app.as(null).request("POST", "/graphql", { q: 1 })).status).toBe(400);
  });
});
