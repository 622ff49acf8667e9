import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { withMiddleware } from "../../src/gate/index.ts";
import { belongsTo, createPlugin, defineRule, entity, hasMany, memoryDriver, string, text } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { everyDatabase } from "../support/every-database.ts";
import type { TestDatabase } from "../support/sql-databases.ts";

const editors = defineRule("searchEditors", ({ user }) => user?.role === "editor");
const own = defineRule("searchOwn", ({ user }) => user !== null && { authorId: String(user.id) });

const author = entity("author", { name: string.searchable(), posts: hasMany(() => post) }).rules({
  read: ["everyone"],
});
const post = entity("post", {
  title: string.searchable({ weight: 5 }),
  body: text.optional().searchable(),
  notes: text.optional().searchable({ weight: 9 }).readable(editors),
  draft: text.optional().searchable({ weight: 9 }).readable(own),
  slug: string.optional(),
  author: belongsTo(() => author),
}).rules({ read: ["everyone"], create: ["authenticated"], update: ["authenticated"], delete: [editors] });

const ENTITIES = [author, post] as const;
const POSTS = [
  { id: "p1", title: "Crème brûlée at home", body: "Sugar, eggs and CREAM." },
  { id: "p2", title: "Eggs", body: "How to boil eggs: a crash course", notes: "sugarfree secret", draft: "zebra" },
  { id: "p3", title: "Straße & Ørsted", body: "Łódź <b>Đuro</b> Þór" },
  { id: "p4", title: "東京の天気", body: null },
  { id: "p5", title: "Egg sandwich", body: "shells", authorId: "bob", draft: "zebra eggs" },
];

async function openBlog(database: TestDatabase) {
  const app = createTestApp({ entities: ENTITIES, driver: database.driver });
  await app.api.ready;
  const system = app.api.asSystem();
  for (const name of ["ann", "bob"]) await system.author.create({ id: name, name });
  for (const one of POSTS) await system.post.create({ authorId: "ann", ...one });
  return app;
}

describe.each(everyDatabase(ENTITIES, 0))("a search, on %s", (name, open) => {
  const isRanked = name !== "MariaDB through a client";
  let database: TestDatabase;
  let app: Awaited<ReturnType<typeof openBlog>>;
  beforeAll(async () => {
    database = await open();
    app = await openBlog(database);
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });

  const ask = async (search: string, user: { id: string; role?: string } | null = null) => {
    const { status, body, headers } = await app.as(user).request("GET", `/api/posts?${search}`);
    const list = body as { id: string; _highlights?: Record<string, string> }[] & { message: string };
    return { status, ids: status === 200 ? list.map(({ id }) => id) : [], list, message: list.message, headers };
  };
  const found = async (search: string, user?: { id: string; role?: string }) => (await ask(search, user)).ids.sort();

  it.each([
    ["creme", ["p1"]],
    ["BRULEE", ["p1"]],
    ["crème", ["p1"]],
    ["sug", ["p1"]],
    ["sug cre", ["p1"]],
    ["eggs", ["p1", "p2"]],
    ["egg", ["p1", "p2", "p5"]],
    ["ggs", []],
    ["strasse orsted", ["p3"]],
    ["lodz duro thor", ["p3"]],
    ["天気", ["p4"]],
    ["京", ["p4"]],
    ["eggs, home!", ["p1"]],
    ["50%", []],
    ["_", []],
    ["'", []],
  ])("finds words of any case, with or without accents: %s", async (words, ids) => {
    expect(await found(`q=${encodeURIComponent(words)}`)).toEqual(ids);
  });

  it("sorts by weight and whole words, unless another sort is requested", async () => {
    expect((await ask("q=egg")).ids).toEqual(isRanked ? ["p5", "p2", "p1"] : ["p1", "p2", "p5"]);
    expect((await ask("q=eggs")).ids).toEqual(isRanked ? ["p2", "p1"] : ["p1", "p2"]);
    expect((await ask("q=eggs&_sort=id")).ids).toEqual(["p1", "p2"]);
    if (isRanked) expect((await ask("q=eggs&_sort=_rank,-id")).ids).toEqual(["p1", "p2"]);
    const { data, total } = await app.api.as({ id: "ann" }).post.list({ q: "eggs", sort: ["-_rank"] });
    expect([data.map(({ id }) => id), total]).toEqual([isRanked ? ["p2", "p1"] : ["p1", "p2"], 2]);
  });

  it("continues after a cursor, and counts", async () => {
    const first = await ask("q=egg&_limit=2");
    const cursor = first.headers.get("x-next-cursor") as string;
    expect(first.headers.get("x-total-count")).toBe("3");
    const second = await ask(`q=egg&_limit=2&_after=${cursor}`);
    expect([...first.ids, ...second.ids].sort()).toEqual(["p1", "p2", "p5"]);
    expect((await ask(`q=egg&_limit=2&_after=${cursor.slice(1)}`)).status).toBe(400);
    expect((await ask(`_sort=title&_limit=2&_after=${cursor}`)).status).toBe(400);
    expect((await app.api.asSystem().post.list({ q: "egg" })).total).toBe(3);
  });

  it("is ignored if its text is empty", async () => {
    expect((await ask("q=")).ids).toEqual(["p1", "p2", "p3", "p4", "p5"]);
    expect((await app.api.as({ id: "ann" }).post.list({ q: "", sort: ["-title"] })).total).toBe(5);
  });

  it("does not use fields that the caller may not read", async () => {
    expect(await found("q=secret")).toEqual([]);
    expect(await found("q=secret", { id: "eve", role: "editor" })).toEqual(["p2"]);
    expect(await found("q=zebra")).toEqual([]);
    expect(await found("q=zebra", { id: "bob" })).toEqual(["p5"]);
    // The field with the highest weight is hidden, and affects neither order nor highlights.
    const { list, ids } = await ask("q=eggs&_highlight=true", { id: "bob" });
    expect(ids).toEqual(isRanked ? ["p2", "p1", "p5"] : ["p1", "p2", "p5"]); // p5 by the draft alone
    expect(list.flatMap(({ _highlights = {} }) => Object.keys(_highlights))).not.toContain("draft");
    expect(JSON.stringify((await ask("q=sugar&_highlight=true")).list)).not.toContain("secret");
  });

  it("highlights the matching words, as HTML", async () => {
    const { list } = await ask("q=duro%20strasse&_highlight=true");
    expect(list.map(({ _highlights }) => _highlights)).toEqual([
      { title: "<mark>Straße</mark> &amp; Ørsted", body: "Łódź &lt;b&gt;<mark>Đuro</mark>&lt;/b&gt; Þór" },
    ]);
    expect((await ask("q=duro&_highlight=true&select=title")).list.map(({ _highlights }) => _highlights)).toEqual([{}]);
    const sorted = await ask("q=duro&_highlight=true&select=title&_sort=-_rank,body");
    expect(sorted.list.map(({ _highlights }) => _highlights)).toEqual([{}]);
    expect((await ask("q=duro")).list[0]).not.toHaveProperty("_highlights");
    const inProcess = await app.api.as({ id: "ann" }).post.list({ q: "duro", highlight: true, select: ["body"] });
    expect(inProcess.data).toMatchObject([{ _highlights: { body: expect.stringContaining("<mark>Đuro</mark>") } }]);
  });

  it("narrows every operation with conditions", async () => {
    const { body } = await app.as(null).request("GET", "/api/posts/aggregate?q=eggs&count&group=authorId");
    expect(body).toEqual([{ authorId: "ann", count: 2 }]);
    expect(await found("q=egg&authorId=bob")).toEqual(["p5"]);
    expect((await app.as(null).request("GET", "/api/authors?q=an")).body).toMatchObject([{ id: "ann" }]);
  });

  it("reflects changes, and does not show its own column", async () => {
    const { post } = app.api.asSystem();
    await post.update("p5", { title: "Toast" });
    expect(await found("q=sandwich")).toEqual([]);
    expect(await found("q=toast")).toEqual(["p5"]);
    await post.update("p5", { title: "Egg sandwich", body: null });
    expect(await found("q=shells")).toEqual([]);
    await post.update("p5", { body: "shells" });
    const hidden = (await ask("id=p5", { id: "eve", role: "editor" })).list[0] as object;
    expect(Object.keys(hidden).filter((name) => name.endsWith("Words"))).toEqual([]);
    for (const search of ["titleWords=x", "titleWords_like=egg", "_sort=titleWords", "select=titleWords"])
      expect([search, (await ask(search)).status]).toEqual([search, 400]);
    const words = { titleWords: " zebra " };
    await expect(post.create({ title: "Words", authorId: "ann", ...words })).rejects.toMatchObject({ status: 400 });
  });

  it.each([
    ["q=a b c d e f g h i", "at most 8 words"],
    ["_sort=-_rank", "_rank"],
    ["q=egg&_highlight=perhaps", "_highlight"],
    ["q=a&q=b", "more than once"],
  ])("refuses %s with an explanation", async (search, sentence) => {
    const { status, message } = await ask(search);
    expect([status, message]).toEqual([400, expect.stringContaining(sentence)]);
  });
});

/** A few endings of English, for these tests. */
const stem = (word: string): string => word.replace(/(?:n?ing|ies|y|s)$/, "");
const recipe = entity("recipe", {
  title: string.searchable({ weight: 3, stem }),
  steps: text.optional().searchable({ stem }),
  code: string.searchable(),
}).rules({ read: ["everyone"] });

describe.each(everyDatabase([recipe], 1))("a search with stems, on %s", (_name, open) => {
  it("finds the other forms of a word, and highlights them", async () => {
    const database = await open();
    onTestFinished(() => database.drop());
    const app = createTestApp({ entities: [recipe], driver: database.driver });
    onTestFinished(() => app.close());
    await app.api.ready;
    const { recipe: recipes } = app.api.asSystem();
    await recipes.create({ id: "r1", title: "Running for berries", steps: "Runs", code: "berries" });
    await recipes.create({ id: "r2", title: "A run", steps: "One berry", code: "running" });
    await recipes.create({ id: "r3", title: "Rust", code: "rungs" });
    const ask = async (search: string) =>
      (await app.as(null).request("GET", `/api/recipes?${search}`)).body as { id: string; _highlights: object }[];
    const found = async (q: string) => (await ask(`q=${encodeURIComponent(q)}`)).map(({ id }) => id);
    expect(await found("RUNNING")).toEqual(["r1", "r2"]);
    expect((await found("runs")).sort()).toEqual(["r1", "r2"]);
    expect((await found("berry berries")).sort()).toEqual(["r1", "r2"]);
    expect((await found("ru")).sort()).toEqual(["r1", "r2", "r3"]);
    // A field without a stemmer matches only its own words.
    expect(await found("rung")).toEqual(["r3"]);
    expect(await found("=run")).toEqual(await found("run"));
    expect((await ask("q=run&_highlight=true&_sort=id")).map(({ _highlights }) => _highlights)).toEqual([
      { title: "<mark>Running</mark> for berries", steps: "<mark>Runs</mark>" },
      { title: "A <mark>run</mark>", code: "<mark>running</mark>" },
      { code: "<mark>rungs</mark>" },
    ]);
    expect((await ask("q=berries&_highlight=true&id=r2"))[0]?._highlights).toEqual({ steps: "One <mark>berry</mark>" });
  });
});

it("a stem option that is not a function keeps the app from starting", () => {
  const wrong = entity("recipe", { title: string.searchable({ stem: "english" as never }) });
  expect(() => wrong.build()).toThrow("recipe.title: the stem of .searchable() is a function");
});

describe("a text with very many accents", () => {
  it("is found without sorting them", async () => {
    const app = createTestApp({ entities: ENTITIES, driver: memoryDriver() });
    onTestFinished(() => app.close());
    const { author, post } = app.api.asSystem();
    const { id } = await author.create({ name: "Ann" });
    const normalize = vi.spyOn(String.prototype, "normalize");
    onTestFinished(() => normalize.mockRestore());
    await post.create({ authorId: id, title: "Accents", body: `cre${"\u0315\u0300".repeat(1_000)}me` });
    expect(normalize.mock.contexts.filter((text) => /\p{M}{2}/u.test(String(text)))).toEqual([]);
    expect((await app.as(null).request("GET", "/api/posts?q=creme")).body).toMatchObject([{ title: "Accents" }]);
  });
});

describe("the words of a record", () => {
  it("are not read with it, since they may be as long as its texts", async () => {
    const read: (readonly string[] | undefined)[] = [];
    const watch = createPlugin({
      id: "watch",
      version: "1.0.0",
      wrapDriver: (driver) =>
        withMiddleware(driver, (statement, next) => {
          if (statement.kind === "find" && statement.entity.name === "post") read.push(statement.select);
          return next(statement);
        }),
    });
    const app = createTestApp({ entities: ENTITIES, driver: memoryDriver(), plugins: [watch] });
    onTestFinished(() => app.close());
    const { author, post } = app.api.asSystem();
    const { id: authorId } = await author.create({ name: "Ann" });
    const { id } = await post.create({ authorId, title: "Eggs" });
    read.length = 0;
    await post.list();
    for (const path of ["posts", "posts?q=eggs", `posts/${id}`, "authors?include=posts"])
      expect((await app.as(null).request("GET", `/api/${path}`)).status).toBe(200);
    expect(read).toHaveLength(5);
    for (const select of read) expect(select?.filter((name) => name.endsWith("Words"))).toEqual([]);
  });
});

describe("fields that become searchable", () => {
  const before = entity("page", { title: string }).rules({ read: ["everyone"] });
  const after = entity("page", { title: string.searchable() }).rules({ read: ["everyone"] });

  it.each(everyDatabase([after], 0).filter(([name]) => name === "SQLite" || name === "PostgreSQL"))(
    "find existing records, on %s",
    async (_name, open) => {
      const database = await open();
      onTestFinished(() => database.drop());
      const old = createTestApp({ entities: [before], driver: database.driver });
      await old.api.ready;
      await old.api.asSystem().page.create({ title: "Old page" });
      await old.close();
      const app = createTestApp({ entities: [after], driver: database.driver });
      onTestFinished(() => app.close());
      await app.api.ready;
      await expect
        .poll(async () => (await app.as(null).request("GET", "/api/pages?q=old")).body)
        .toMatchObject([{ title: "Old page" }]);
    },
  );

  it("are filled in batches of some megabytes", async () => {
    const [, open] = everyDatabase([after], 0).find(([name]) => name === "SQLite") as ReturnType<
      typeof everyDatabase
    >[0];
    const database = await open();
    onTestFinished(() => database.drop());
    const long = entity("page", { title: text }).rules({ read: ["everyone"] });
    const old = createTestApp({ entities: [long], driver: database.driver });
    await old.api.ready;
    for (let i = 0; i < 14; i++) await old.api.asSystem().page.create({ title: "Old page ".repeat(100_000) });
    await old.close();
    const sizes: number[] = [];
    const driver = withMiddleware(database.driver, async (statement, next) => {
      const result = await next(statement);
      if (statement.kind === "find") sizes.push(JSON.stringify(result).length);
      return result;
    });
    const app = createTestApp({
      entities: [entity("page", { title: text.searchable() }).rules({ read: ["everyone"] })],
      driver,
    });
    onTestFinished(() => app.close());
    await app.api.ready;
    const found = async () => (await app.as(null).request("GET", "/api/pages?q=old&select=id")).body;
    await expect.poll(found).toHaveLength(14);
    expect(Math.max(...sizes)).toBeLessThan(10_000_000);
  });

  it.each([
    [() => string.searchable().omit(), "protected field"],
    [() => string.searchable().encrypted(), "protected field"],
    [() => string.searchable({ weight: 0 }), "weight"],
  ])("are refused if their words must not be stored", (field, sentence) => {
    expect(() => createTestApp({ entities: [entity("page", { title: field() })], driver: memoryDriver() })).toThrow(
      sentence,
    );
  });
});
