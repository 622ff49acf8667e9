import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { belongsTo, defineRule, entity, hasMany, string, text } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { ALL_DATABASES } from "../../support/sql-databases.ts";

/** Decides by code, so the record has to be read first. */
const pfsDraftOf = defineRule("pfsDraftOf", async ({ user, record }) => record?.authorId === user?.id);
const person = entity("person", { name: string })
  .ownedBy("id")
  .rules({ read: ["everyone"] });
const board = entity("board", { name: string, posts: hasMany(() => post) })
  .timestamps(false)
  .rules({ read: ["everyone"] });
/** Only the author sees its note. */
const post = entity("post", {
  title: string,
  note: text.optional().readable(["owner"]),
  draft: text.optional().readable([pfsDraftOf]),
  author: belongsTo(() => person),
  board: belongsTo(() => board),
})
  .ownedBy("author")
  .timestamps(false)
  .rules({ read: ["everyone"] });

describe.each(ALL_DATABASES)("values of a field that a record does not show, on %s", (_name, open) => {
  let database: Awaited<ReturnType<typeof open>>;
  let app: ReturnType<typeof createTestApp<[typeof person, typeof board, typeof post]>>;

  beforeAll(async () => {
    database = await open();
    app = createTestApp({ entities: [person, board, post], driver: database.driver, limits: { pageBytes: 4_000_000 } });
    await app.api.ready;
    const system = app.api.asSystem();
    for (const id of ["ann", "bob"]) await system.person.create({ id, name: id });
    await system.board.create({ id: "b", name: "Board" });
    for (let i = 0; i < 12; i++)
      await system.post.create({ id: `p${i}`, title: "", authorId: i % 3 === 0 ? "bob" : "ann", boardId: "b" });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  /** Bob's response if one text of ann's posts has this length, and bob's own has 300,000 bytes. */
  async function told(name: "note" | "draft", length: number): Promise<Record<string, unknown>> {
    const system = app.api.asSystem();
    for (let i = 0; i < 12; i++)
      await system.post.update(`p${i}`, { [name]: "x".repeat(i % 3 === 0 ? 300_000 : length) });
    const found: Record<string, unknown> = {};
    const paths = [
      "posts",
      "posts?_limit=11",
      "posts?_start=0&_end=11",
      `posts?select=${name}`,
      "boards/b?include=posts",
    ];
    for (const path of paths) {
      const { status, headers, body } = await app.as({ id: "bob" }).request("GET", `/api/${path}`);
      const { requestId: _, ...shown } = Array.isArray(body) ? { body } : (body as Record<string, unknown>);
      found[path] = {
        status,
        cursor: headers.get("x-next-cursor"),
        digest: JSON.stringify(shown).replaceAll(/x+/g, "x"),
      };
    }
    return found;
  }

  it.each(["note", "draft"] as const)("do not count as bytes of a page or of an include: %s", async (name) => {
    const short = await told(name, 1);
    expect(await told(name, 700_000)).toEqual(short);
    expect(short.posts).toMatchObject({ status: 200, digest: expect.stringContaining('"p9"') });
  });

  it("count as bytes of a page if the records show them", async () => {
    await told("note", 700_000);
    const { body, headers } = await app.as({ id: "ann" }).request("GET", "/api/posts");
    expect(headers.has("x-next-cursor")).toBe(true);
    expect((body as unknown[]).length).toBeLessThan(12);
  });
});
