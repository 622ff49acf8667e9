import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import {
  belongsTo,
  defineRule,
  entity,
  hasMany,
  hasOne,
  int,
  manyToMany,
  memoryDriver,
  string,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";

const shown = defineRule("connectOrCreateShown", ({ user }) => user?.role === "admin" || { word: { ne: "hidden" } });
const staff = defineRule("connectOrCreateStaff", ({ user }) => user?.role === "staff");
const signedIn = { read: ["everyone"], create: ["authenticated"] };

const author = entity("author", {
  login: string.unique().lower(),
  name: string.min(2),
  secret: string.unique().optional().readable(staff),
  given: string.unique().optional().writable(staff),
  books: hasMany(() => book),
  desk: hasOne(() => desk),
})
  .timestamps(false)
  .rules({ ...signedIn, update: ["authenticated"] });
const book = entity("book", {
  title: string,
  shelf: int,
  place: int,
  author: belongsTo(() => author).optional(),
  tags: manyToMany(() => tag),
})
  .timestamps(false)
  .unique(["shelf", "place"])
  .rules({ ...signedIn, update: [staff] });
const desk = entity("desk", {
  code: string.unique(),
  author: belongsTo(() => author)
    .unique()
    .optional(),
})
  .timestamps(false)
  .rules({ ...signedIn, update: [staff] });
const tag = entity("tag", { word: string.unique() })
  .timestamps(false)
  .rules({ read: [shown], create: [staff] });
const ENTITIES = [author, book, desk, tag] as const;

type Body = Record<string, unknown>;

describe.each(everyDatabase(ENTITIES, 0))("connectOrCreate, on %s", (_name, open) => {
  let database: TestDatabase;
  const openApp = () => createTestApp({ entities: ENTITIES, driver: database.driver });
  let app: ReturnType<typeof openApp>;
  beforeAll(async () => {
    database = await open();
    app = openApp();
    await app.api.ready;
  });
  beforeEach(async () => {
    const system = app.api.asSystem();
    await system.author.create({ id: "ann", login: "ann", name: "Ann", secret: "s" });
    await system.book.create({ id: "b1", title: "One", shelf: 1, place: 1 });
    await system.desk.create({ id: "d1", code: "A1" });
    for (const word of ["old", "hidden"]) await system.tag.create({ id: word, word });
  });
  afterEach(async () => {
    for (const name of ["book", "desk", "author", "tag"])
      await app.api.driver.deleteMany(name, { id: { null: false } });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  const send = async (method: string, path: string, body: unknown, role = "staff") => {
    const answer = await app.as({ id: "eve", role }).request(method, `/api/${path}`, body);
    return { status: answer.status, body: answer.body as Body };
  };
  const said = ({ status, body: { message, errors } }: Awaited<ReturnType<typeof send>>) =>
    `${status} ${errors === undefined ? message : JSON.stringify(errors)}`;
  const novel = (more: Body): Body => ({ title: "t", shelf: 2, place: 1, ...more });
  const byLogin = (login: string, name = "New") => ({ where: { login }, create: { login, name } });
  const byWord = (word: string) => ({ where: { word }, create: { word } });
  const countAll = () => Promise.all(ENTITIES.map((one) => app.api.asSystem()[one.build().name].count()));

  it("connects the record that has the key, or creates it", async () => {
    for (const [login, place] of [
      ["ann", 1],
      ["new", 2],
      ["new", 3],
    ] as const) {
      const body = novel({ place, author: { connectOrCreate: byLogin(login) } });
      const made = await send("POST", "books?include=author", body);
      expect([made.status, made.body.author]).toEqual([201, expect.objectContaining({ login })]);
    }
    const { data } = await app.api.asSystem().author.list({ sort: ["login"] });
    expect(data.map(({ login, name }) => [login, name])).toEqual([
      ["ann", "Ann"],
      ["new", "New"],
    ]);
  });

  it("works for lists of records, for pairs and for a one-to-one relation", async () => {
    const by = (shelf: number, place: number) => ({
      where: { shelf, place },
      create: { title: "New", shelf, place, tags: { connectOrCreate: [byWord("old"), byWord("new"), byWord("new")] } },
    });
    const { status, body } = await send("PATCH", "authors/ann?include=books.tags,desk", {
      books: { connectOrCreate: [by(1, 1), by(7, 7)] },
      desk: { connectOrCreate: { where: { code: "A1" }, create: { code: "A1" } } },
    });
    expect([status, body.desk]).toEqual([200, expect.objectContaining({ id: "d1" })]);
    const books = (body.books as { title: string; tags: { word: string }[] }[]).map(
      ({ title, tags }) => `${title}: ${tags.map(({ word }) => word).sort()}`,
    );
    expect(books.sort()).toEqual(["New: new,old", "One: "]);
    const desk = { connectOrCreate: { where: { code: "B2" }, create: { code: "B2" } } };
    const second = await send("POST", "authors?include=desk", { login: "bob", name: "Bob", desk });
    expect([second.status, second.body.desk]).toEqual([201, expect.objectContaining({ code: "B2" })]);
  });

  it("reads a key in its stored form", async () => {
    const found = await send("POST", "books?include=author", novel({ author: { connectOrCreate: byLogin("ANN") } }));
    expect(found.body.author).toMatchObject({ id: "ann" });
    const put = (login: string) => send("PUT", "authors?_on=login", { login, name: "Changed" });
    expect([(await put("Ann")).status, (await put("Bob")).status, (await put("BOB")).status]).toEqual([200, 201, 200]);
  });

  it("requires the rights to connect and to create", async () => {
    const books = (place: number) => ({
      books: { connectOrCreate: { where: { shelf: 1, place }, create: { title: "t", shelf: 1, place } } },
    });
    const tags = (word: string) => novel({ place: 9, tags: { connectOrCreate: byWord(word) } });
    expect(said(await send("PATCH", "authors/ann", books(1), "user"))).toMatch(/^403 books\.connectOrCreate\.0: /);
    expect((await send("PATCH", "authors/ann", books(2), "user")).status).toBe(200);
    expect(said(await send("POST", "books", tags("new"), "user"))).toMatch(/^403 tags\.connectOrCreate\.0\.create: /);
    expect((await send("POST", "books", tags("old"), "user")).status).toBe(201);
  });

  it("is a conflict if the caller may not read the record that has the key", async () => {
    const before = await countAll();
    const hidden = await send("POST", "books", novel({ tags: { connectOrCreate: byWord("hidden") } }));
    const taken = await send("POST", "books", novel({ tags: { create: { word: "old" } } }));
    const place = "tags.connectOrCreate.0.create: ";
    expect(said(hidden).replace(place, "")).toBe(said(taken).replace("tags.create.0: ", ""));
    expect([hidden.status, hidden.body.message]).toEqual([409, expect.stringContaining(place)]);
    expect(await countAll()).toEqual(before);
    expect((await send("POST", "books", novel({ tags: { connectOrCreate: byWord("hidden") } }), "admin")).status).toBe(
      201,
    );
  });

  it.each([
    [{ where: { name: "Ann" }, create: { login: "x", name: "Ann" } }, "no unique field"],
    [{ where: {}, create: { login: "x", name: "xx" } }, "no unique field"],
    [{ where: { login: "x", given: "y" }, create: { login: "x", given: "y", name: "xx" } }, "no unique field"],
    [
      { where: { secret: "s" }, create: { login: "x", secret: "s", name: "xx" } },
      'no unique field, and no unique combination of fields, "secret"',
    ],
    [
      { where: { nothing: "s" }, create: { login: "x", name: "xx" } },
      'no unique field, and no unique combination of fields, "nothing"',
    ],
    [{ where: { login: null }, create: { login: "x", name: "xx" } }, '"author.connectOrCreate.where.login":"is needed'],
    [
      { where: { login: { ne: "x" } }, create: { login: "x", name: "xx" } },
      '"author.connectOrCreate.where.login":"must be',
    ],
    [{ where: { login: 5 }, create: { login: 5, name: "xx" } }, '"author.connectOrCreate.where.login":"must be'],
    [
      { where: { login: "x" }, create: { login: "y", name: "xx" } },
      '"author.connectOrCreate.create.login":"must be the value',
    ],
    [{ where: { login: "x" }, create: { name: "xx" } }, '"author.connectOrCreate.create.login":"must be the value'],
    [{ where: { login: "x" }, create: { login: "x", name: "x" } }, '"author.connectOrCreate.create.name":'],
    [{ where: { login: "x" } }, "takes { where, create }"],
    [{ ...byLogin("x"), update: {} }, "takes { where, create }"],
    [[byLogin("x")], "takes one value"],
  ])("refuses %j", async (connectOrCreate, sentence) => {
    const before = await countAll();
    const answer = await send("POST", "books", novel({ author: { connectOrCreate } }), "user");
    expect(said(answer)).toMatch(/^400 /);
    expect(said(answer)).toContain(sentence);
    expect(await countAll()).toEqual(before);
  });

  it("creates no record without the key that identifies it", async () => {
    const given = { where: { given: "g" }, create: { login: "x", name: "xx", given: "g" } };
    const before = await countAll();
    const answer = await send("POST", "books", novel({ author: { connectOrCreate: given } }), "user");
    expect(said(answer)).toBe('403 author.connectOrCreate.create: "given" may not be written');
    expect(await countAll()).toEqual(before);
    expect((await send("POST", "books", novel({ author: { connectOrCreate: given } }))).status).toBe(201);
  });

  it("creates one record for many parallel requests", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, place) =>
        send("POST", "books", novel({ place, author: { connectOrCreate: byLogin("raced") } })),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toContain(201);
    expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([]);
    const system = app.api.asSystem();
    expect(await system.author.count({ login: "raced" })).toBe(1);
    expect(await system.book.count({ author: { login: "raced" } })).toBe(
      statuses.filter((status) => status === 201).length,
    );
  });

  it("works the same in the process and in a batch", async () => {
    const client = app.api.as({ id: "eve", role: "staff" });
    const made = await client.book.create({
      title: "t",
      shelf: 5,
      place: 5,
      author: { connectOrCreate: { where: { login: "ann" }, create: { login: "ann", name: "Ann" } } },
      tags: { connectOrCreate: [byWord("old"), byWord("mine")] },
    });
    expect(made.authorId).toBe("ann");
    const { body } = await send("POST", "batch", [
      { method: "POST", path: "/tags", body: { word: "first" } },
      { method: "PATCH", path: `/books/${made.id}?include=tags`, body: { tags: { connectOrCreate: byWord("first") } } },
    ]);
    const [first, changed] = body as unknown as { body: { id: string; tags: { id: string }[] } }[];
    expect(changed?.body.tags.map(({ id }) => id)).toContain(first?.body.id);
  });
});

describe("the owner of a record", () => {
  it("is found or created only for an administrator", async () => {
    const user = entity("user", { login: string.unique(), name: string })
      .timestamps(false)
      .ownedBy("id")
      .rules({ read: ["everyone"], create: ["everyone"], update: ["everyone"] });
    const note = entity("note", { title: string, user: belongsTo(() => user).optional() })
      .timestamps(false)
      .ownedBy("user")
      .rules({ read: ["everyone"], create: ["everyone"], update: ["everyone"] });
    const app = createTestApp({
      entities: [user, note],
      driver: memoryDriver({
        user: [
          { id: "ann", login: "ann", name: "Ann" },
          { id: "bob", login: "bob", name: "Bob" },
        ],
        note: [{ id: "n1", title: "t", userId: null }],
      }),
    });
    onTestFinished(() => app.close());
    const post = async (caller: Parameters<typeof app.as>[0], login: string, method = "POST", path = "notes") => {
      const owner = { connectOrCreate: { where: { login }, create: { login, name: login } } };
      return (await app.as(caller).request(method, `/api/${path}`, { title: "t", user: owner })).status;
    };
    for (const login of ["ann", "new"]) {
      expect(await post({ id: "bob" }, login)).toBe(403);
      expect(await post({ id: "bob" }, login, "PATCH", "notes/n1")).toBe(403);
      expect(await post(null, login)).toBe(401);
    }
    expect(await app.api.asSystem().user.count()).toBe(2);
    expect(await post({ id: "eve", role: "admin" }, "new")).toBe(201);
    expect(await post({ id: "eve", role: "admin" }, "ann", "PATCH", "notes/n1")).toBe(200);
  });
});
