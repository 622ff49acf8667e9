import { describe, expect, it } from "vitest";
import { rowBytes, withMiddleware } from "../../../src/gate/index.ts";
import {
  belongsTo,
  type Driver,
  defineRule,
  embedded,
  entity,
  hasMany,
  memoryDriver,
  noopLogger,
  string,
  text,
} from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { freshSqliteFile } from "../../support/databases.ts";

const drivers: readonly (readonly [string, () => Promise<{ driver: Driver; remove(): unknown }>])[] = [
  ["memory", async () => ({ driver: memoryDriver(), remove: () => {} })],
  [
    "SQLite",
    async () => {
      const { file, remove } = await freshSqliteFile();
      return { driver: embedded({ file }), remove };
    },
  ],
];

const note = entity("note", {
  title: text,
  diary: text.optional().readable("admin"),
  token: text.optional().omit(),
  pin: string.optional().omit(),
}).rules({ read: ["everyone"] });

describe.each(drivers)("the byte count of a page on %s", (_, open) => {
  async function started(hidden: object) {
    const { driver, remove } = await open();
    const app = createTestApp({ entities: [note], driver, limits: { pageBytes: 2_000 }, logger: noopLogger });
    await app.api.ready;
    for (const id of ["a", "b", "c", "d"])
      await app.api.asSystem().note.create({ id, title: "t".repeat(280), ...hidden });
    const idsOf = async (search: string, user: { id: string; role?: string } | null = null): Promise<unknown> => {
      const { status, body } = await app.as(user).request("GET", `/api/notes${search}`);
      return status === 200 ? (body as { id: string }[]).map(({ id }) => id) : status;
    };
    const close = async () => {
      await app.close();
      await remove();
    };
    return { idsOf, close };
  }

  it.each([
    ["a field for others", { diary: "d".repeat(3_000) }],
    ["an omitted field", { token: "t".repeat(3_000) }],
    ["a short omitted field", { pin: "p".repeat(250) }],
  ])("reveals nothing about %s", async (_name, hidden) => {
    const [empty, filled] = [await started({}), await started(hidden)];
    for (const search of ["", "?_page=1", "?_select=title"])
      expect([search, await filled.idsOf(search)]).toEqual([search, await empty.idsOf(search)]);
    await Promise.all([empty.close(), filled.close()]);
  });

  it("includes only what the caller may see", async () => {
    const app = await started({ diary: "d".repeat(3_000) });
    expect(await app.idsOf("", { id: "root", role: "admin" })).toEqual(["a"]);
    await app.close();
  });
});

const isTitled = defineRule("pbIsTitled", ({ record }) => record?.title !== "none");
const letter = entity("letter", {
  title: text,
  seal: string.optional().readable(isTitled),
  diary: text.optional().readable("admin"),
}).rules({ read: ["everyone"] });

describe.each(drivers)("the records that a field rule reads on %s", (_, open) => {
  it("are kept in memory a portion at a time", async () => {
    const { driver: base, remove } = await open();
    const held: number[] = [];
    const driver = withMiddleware(base, async (statement, next) => {
      const result = await next(statement);
      if (statement.kind === "find")
        held.push((result as Record<string, unknown>[]).reduce((sum, row) => sum + rowBytes(row), 0));
      return result;
    });
    const app = createTestApp({ entities: [letter], driver, logger: noopLogger });
    await app.api.ready;
    const ids = Array.from({ length: 9 }, (_, index) => `letter-${index}`);
    for (const id of ids)
      await app.api.asSystem().letter.create({ id, title: "t", seal: id, diary: "d".repeat(400_000) });
    held.length = 0;
    const { body } = await app.as(null).request("GET", "/api/letters");
    expect((body as { seal: string }[]).map(({ seal }) => seal)).toEqual(ids);
    expect(Math.max(...held)).toBeLessThan(1_100_000);
    expect(held.length).toBeGreaterThan(4);
    await app.close();
    await remove();
  });
});

const shelf = entity("shelf", { books: hasMany(() => book) }).rules({ read: ["everyone"] });
const book = entity("book", {
  blurb: text.optional(),
  shelf: belongsTo(() => shelf),
  pages: hasMany(() => page),
}).rules({ read: ["everyone"] });
const page = entity("page", { story: text, book: belongsTo(() => book) }).rules({ read: ["everyone"] });

describe.each(drivers)("included records that exceed the limit on %s", (_, open) => {
  it.each(["", "/s"])("are refused, also if each list has only one: /api/shelves%s", async (of) => {
    const { driver, remove } = await open();
    const app = createTestApp({
      entities: [shelf, book, page],
      driver,
      limits: { pageBytes: 2_000 },
      logger: noopLogger,
    });
    await app.api.ready;
    const system = app.api.asSystem();
    await system.shelf.create({ id: "s" });
    await system.book.create({ id: "b", shelfId: "s", blurb: "b".repeat(600) });
    await system.page.create({ id: "p", bookId: "b", story: "p".repeat(600) });
    const ask = (include: string) => app.as(null).request("GET", `/api/shelves${of}?include=${include}`);
    expect((await ask("books")).status).toBe(200);
    const tooMuch = await ask("books.pages");
    expect(tooMuch.status).toBe(400);
    expect(JSON.stringify(tooMuch.body)).toContain("1000 bytes");
    await app.close();
    await remove();
  });
});
