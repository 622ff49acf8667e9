import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  belongsTo,
  datetime,
  decimal,
  defineRule,
  entity,
  enums,
  hasMany,
  int,
  selfRef,
  string,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase, everyWay } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";

const staff = defineRule("relatedOrderStaff", ({ user }) => user?.role === "staff");
const open = defineRule("relatedOrderOpen", ({ user }) => user?.role === "staff" || { listed: "yes" });
const mine = defineRule("relatedOrderMine", ({ user }) => ({ name: String(user?.id) }));

const town = entity("town", { name: string, code: string.optional() })
  .timestamps(false)
  .rules({ read: ["everyone"] });
const author = entity("author", {
  name: string,
  listed: enums("no", "yes").default("yes"),
  rating: decimal(6, 2).default("1"),
  born: datetime.optional(),
  secret: string.default("s").readable(staff),
  phone: string.default("p").readable(mine),
  card: string.encrypted({ searchable: true }).optional(),
  password: string.password().optional(),
  town: belongsTo(() => town).optional(),
  hidden: belongsTo(() => vault).optional(),
  books: hasMany(() => book),
})
  .timestamps(false)
  .rules({ read: [open] });
const vault = entity("vault", { name: string })
  .timestamps(false)
  .rules({ read: [staff] });
const book = entity("book", {
  title: string,
  pages: int,
  author: belongsTo(() => author).optional(),
  sequel: selfRef().optional(),
})
  .timestamps(false)
  .rules({ read: ["everyone"] });
const ENTITIES = [town, author, vault, book] as const;
const encryption = { key: "07".repeat(32), keyId: "k1" };

async function fill(app: ReturnType<typeof openApp>): Promise<void> {
  const system = app.api.asSystem();
  await system.town.create({ id: "t1", name: "Zug" });
  await system.town.create({ id: "t2", name: "Aarau", code: "x" });
  await system.vault.create({ id: "v1", name: "v" });
  const day = (date: number) => new Date(Date.UTC(2000, 0, date));
  await system.author.create({ id: "a1", name: "Émile", rating: "9.50", townId: "t1", born: day(2), hiddenId: "v1" });
  await system.author.create({ id: "a2", name: "bob", rating: "10.25", townId: "t2", born: day(1), secret: "a" });
  await system.author.create({ id: "a3", name: "Aaron", rating: "-3", listed: "no", townId: "t1" });
  const authors = ["a1", "a2", "a3", null, "a1", "a2", null];
  for (const [index, authorId] of authors.entries())
    await system.book.create({ id: `b${index}`, title: `T${index}`, pages: index % 3, authorId });
  await system.book.update("b4", { sequelId: "b5" });
}

function openApp(database: TestDatabase) {
  return createTestApp({ entities: ENTITIES, driver: database.driver, encryption });
}

const direct = everyDatabase(ENTITIES, 0).filter(([name]) => !name.includes("client"));

describe.each(direct)("a sort by fields of related records, on %s", (_name, openDatabase) => {
  let database: TestDatabase;
  let app: ReturnType<typeof openApp>;
  beforeAll(async () => {
    database = await openDatabase();
    app = openApp(database);
    await app.api.ready;
    await fill(app);
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  const ask = async (query: string, role = "staff", id = "eve") => {
    const { status, body, headers } = await app.as({ id, role }).request("GET", `/api/books?${query}`);
    return { status, body: body as { id: string; message: string }[], headers };
  };
  const ids = async (query: string, role?: string) => {
    const { status, body } = await ask(query, role);
    expect([query, status, body]).toEqual([query, 200, expect.anything()]);
    return body.map(({ id }) => id).join(" ");
  };

  it.each([
    ["author.name", "b3 b6 b2 b1 b5 b0 b4"],
    ["-author.name", "b0 b4 b1 b5 b2 b3 b6"],
    ["author.rating,-title", "b6 b3 b2 b4 b0 b5 b1"],
    ["author.born", "b2 b3 b6 b1 b5 b0 b4"],
    ["author.listed,pages", "b3 b6 b2 b0 b1 b4 b5"],
    ["author.town.name,-author.name", "b3 b6 b1 b5 b0 b4 b2"],
    ["-author.town.code", "b1 b5 b0 b2 b3 b4 b6"],
    ["-sequel.author.name,-id", "b4 b6 b5 b3 b2 b1 b0"],
    ["pages,-author.id", "b0 b3 b6 b1 b4 b2 b5"],
  ])("sorts %s, records without one first", async (sort, expected) => {
    expect(await ids(`_sort=${sort}`)).toBe(expected);
    expect(await ids(`_sort=${sort}&select=title&_page=2&_limit=3`)).toBe(expected.split(" ").slice(3, 6).join(" "));
  });

  it("treats an unreadable record as a missing one", async () => {
    expect(await ids("_sort=author.name", "user")).toBe("b2 b3 b6 b1 b5 b0 b4");
    expect(await ids("_sort=-author.town.name", "user")).toBe("b0 b4 b1 b5 b2 b3 b6");
  });

  it.each(["author.name", "-author.name,pages", "author.town.code,-author.rating", "-author.born", "author.listed"])(
    "continues after a cursor, by %s",
    async (sort) => {
      for (const role of ["staff", "user"])
        for (const more of ["", "&select=title"]) {
          const all = await ids(`_sort=${sort}`, role);
          const seen: string[] = [];
          let after: string | null = "";
          for (let page = 0; after !== null && page < 9; page += 1) {
            const cursor: string = after === "" ? "" : `&_after=${after}`;
            const { status, body, headers } = await ask(`_sort=${sort}${more}&_limit=2${cursor}`, role);
            expect(status).toBe(200);
            for (const record of body) {
              seen.push(record.id);
              expect(Object.keys(record).filter((name) => name.includes("."))).toEqual([]);
              if (more !== "") expect(Object.keys(record)).toEqual(["id", "title"]);
            }
            after = headers.get("x-next-cursor");
          }
          expect(seen.join(" ")).toBe(all);
        }
    },
  );

  it("refuses unreadable fields like unknown ones", async () => {
    for (const path of ["author.nothing", "author.secret", "author.phone", "author.hidden.name", "author.card"]) {
      const { status, body } = await ask(`_sort=${path}`, "user");
      expect([status, (body as unknown as { message: string }).message]).toEqual([400, `book has no field "${path}".`]);
    }
    expect(await ids("_sort=author.secret,id")).toBe("b3 b6 b1 b5 b0 b2 b4");
    expect(await ids("_sort=author.hidden.name,id")).toBe("b1 b2 b3 b5 b6 b0 b4");
    for (const path of [
      "author.password",
      "nothing.name",
      "author",
      "author.",
      ".name",
      "author.books.title",
      "__proto__.x",
    ])
      expect((await ask(`_sort=${path}`)).status).toBe(400);
    const deep = await ask("_sort=sequel.sequel.sequel.sequel.title");
    expect([deep.status, JSON.stringify(deep.body)]).toEqual([400, expect.stringContaining("3 relations deep")]);
  });

  it("works the same in the process", async () => {
    const list = async (sort: "author.name" | "-author.town.name") => {
      const client = app.api.as({ id: "eve", role: "user" });
      const first = await client.book.list({ sort: [sort], limit: 4 });
      const second = await client.book.list({ sort: [sort], limit: 4, after: first.nextCursor as string });
      return [...first.data, ...second.data].map(({ id }) => id).join(" ");
    };
    expect(await list("author.name")).toBe("b2 b3 b6 b1 b5 b0 b4");
    expect(await list("-author.town.name")).toBe("b0 b4 b1 b5 b2 b3 b6");
    const system = await app.api.asSystem().book.list({ sort: ["author.name"] });
    expect(system.data.map(({ id }) => id).join(" ")).toBe("b3 b6 b2 b1 b5 b0 b4");
  });

  it("is not available for included records", async () => {
    const include = { books: { sort: ["sequel.title"], limit: 1 } };
    await expect(
      app.api.as({ id: "eve", role: "staff" }).author.list({ include: include as never }),
    ).rejects.toMatchObject({ status: 400 });
  });
});

describe("a database that is queried through a PrismaClient", () => {
  it("refuses a sort by fields of related records", async () => {
    const way = everyWay(ENTITIES, 0).find(([name]) => name.includes("client"));
    const database = (await way?.[1]()) as TestDatabase;
    const app = openApp(database);
    onTestFinished(async () => {
      await app.close();
      await database.drop();
    });
    const { status, body } = await app.as(null).request("GET", "/api/books?_sort=author.name");
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("not sorted by fields of related")]);
  });
});
