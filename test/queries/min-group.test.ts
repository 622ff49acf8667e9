import { afterAll, describe, expect, it } from "vitest";
import { belongsTo, entity, hasMany, memoryDriver, string } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";

const rules = { read: ["everyone"] };
const author = entity("author", { name: string, books: hasMany(() => book) }).rules(rules);
const book = entity("book", { title: string, author: belongsTo(() => author) })
  .minGroup(2)
  .rules(rules);

describe("an entity with .minGroup()", () => {
  const driver = memoryDriver({
    author: ["a1", "a2"].map((id) => ({ id, name: id })),
    book: ["a1", "a2", "a2"].map((authorId, at) => ({ id: `b${at}`, title: "t", authorId })),
  });
  const app = createTestApp({ entities: [author, book], driver });
  afterAll(() => app.close());

  const read = async (path: string) => (await app.as(null).request("GET", `/api/${path}`)).body;

  it("omits small groups from aggregates", async () => {
    expect(await read("books/aggregate?group=authorId&count")).toEqual([{ authorId: "a2", count: 2 }]);
  });

  it("does not change the counts of includes", async () => {
    const include = encodeURIComponent(JSON.stringify({ books: { count: true, limit: 0 } }));
    expect(await read(`authors?select=name&include=${include}`)).toEqual([
      { id: "a1", name: "a1", books: [], _count: { books: 1 } },
      { id: "a2", name: "a2", books: [], _count: { books: 2 } },
    ]);
  });
});
