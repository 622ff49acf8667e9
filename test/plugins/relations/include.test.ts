import { afterEach, describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { createPlugin, type Plugin, type Row, type Where, withMiddleware } from "../../../src/gate/index.ts";
import { crud } from "../../../src/plugins/crud/index.ts";
import { query } from "../../../src/plugins/query/index.ts";
import { relations } from "../../../src/plugins/relations/index.ts";
import { createFakeKernel, type FakeKernel } from "../../../src/testing/fake-kernel.ts";
import { recordStatements } from "../../support/record-statements.ts";
import { deny, hide, library } from "../crud/library.ts";

const SEED = {
  user: [
    { id: "ann", name: "Ann", email: "ann@example.com" },
    { id: "bob", name: "Bob", email: null },
  ],
  post: [
    { id: "p1", title: "First", authorId: "ann" },
    { id: "p2", title: "Second", authorId: "ann", parentId: "p1" },
    { id: "p3", title: "Third", authorId: "bob", parentId: "p1" },
  ],
  comment: [
    { id: "c1", text: "one", postId: "p1", authorId: "bob" },
    { id: "c2", text: "two", postId: "p1", authorId: "ann" },
    { id: "c3", text: "three", postId: "p3" },
  ],
  cover: [{ id: "v1", url: "https://example.com/1", postId: "p1" }],
  tag: [
    { id: "t1", name: "red" },
    { id: "t2", name: "blue" },
  ],
};

let kernel: FakeKernel;
afterEach(() => kernel.close());

async function start(...plugins: readonly Plugin[]): Promise<void> {
  const driver = memoryDriver(SEED);
  kernel = createFakeKernel()
    .withEntities(...library)
    .withDriver(driver);
  for (const plugin of [query(), relations(), crud(), ...plugins]) await kernel.use(plugin);
  await driver.link("post", "tags", "p1", ["t1", "t2"]);
  await driver.link("post", "tags", "p3", ["t2"]);
}

/** Only rows that satisfy a predicate may be read. */
function only(name: string, predicate: Where): Plugin {
  return createPlugin({
    id: "test/only",
    hooks: {
      "operation:authorize": ({ entity, decision }) => {
        decision.allowed = true;
        if (entity.name === name) decision.predicate = predicate;
      },
    },
  });
}

async function list(search: string, path = "/posts"): Promise<Row[]> {
  const { status, body } = await kernel.call("GET", path, { search });
  expect([status, (body as Row).message]).toEqual([200, undefined]);
  return body as Row[];
}

describe("include", () => {
  it("adds to-one records under the relation's name, and null without one", async () => {
    await start();
    const posts = await list("include=author,parent,cover");
    expect(
      posts.map(({ id, author, parent, cover }) => [
        id,
        (author as Row).name,
        (parent as Row | null)?.id,
        (cover as Row | null)?.id,
      ]),
    ).toEqual([
      ["p1", "Ann", undefined, "v1"],
      ["p2", "Ann", "p1", undefined],
      ["p3", "Bob", "p1", undefined],
    ]);
    expect(posts[0]).toMatchObject({ parent: null });
    expect(posts[1]).toMatchObject({ cover: null });
  });

  it("adds to-many records as lists, empty without any", async () => {
    await start();
    const posts = await list("include=comments,tags");
    expect(
      posts.map(({ comments, tags }) => [
        (comments as Row[]).map(({ id }) => id),
        (tags as Row[]).map(({ name }) => name),
      ]),
    ).toEqual([
      [
        ["c1", "c2"],
        ["red", "blue"],
      ],
      [[], []],
      [["c3"], ["blue"]],
    ]);
  });

  it("goes several levels deep", async () => {
    await start();
    const [first] = await list("include=comments.author.posts&id=p1");
    const comments = first?.comments as { author: { posts: Row[] } }[];
    expect(comments.map(({ author }) => author.posts.map(({ id }) => id))).toEqual([["p3"], ["p1", "p2"]]);
  });

  it("works for one record", async () => {
    await start();
    const { body } = await kernel.call("GET", "/posts/p3", { search: "include=author,tags" });
    expect(body).toMatchObject({ id: "p3", author: { name: "Bob" }, tags: [{ name: "blue" }] });
  });

  it("works from the other side of a manyToMany relation", async () => {
    await start();
    const tags = await list("include=posts", "/tags");
    expect(tags.map(({ posts }) => (posts as Row[]).map(({ id }) => id))).toEqual([["p1"], ["p1", "p3"]]);
  });

  it("returns related records from a create and an update", async () => {
    await start();
    const created = await kernel.call("POST", "/posts", {
      search: "include=author",
      body: { title: "New", authorId: "bob" },
    });
    expect(created).toMatchObject({ status: 201, body: { author: { name: "Bob" } } });
    const updated = await kernel.call("PATCH", "/posts/p1", { search: "include=author", body: { authorId: "bob" } });
    expect(updated).toMatchObject({ status: 200, body: { author: { name: "Bob" } } });
  });

  it("reads its keys even if they are not selected, and does not show them", async () => {
    await start();
    const [post] = await list("select=title&include=author&id=p1");
    expect(post).toEqual({ id: "p1", title: "First", author: expect.objectContaining({ id: "ann" }) });
  });

  it("runs one statement per relation and level, for any number of records", async () => {
    const base = memoryDriver(SEED);
    const counting = recordStatements(base);
    kernel = createFakeKernel()
      .withEntities(...library)
      .withDriver(counting);
    for (const plugin of [query(), relations(), crud()]) await kernel.use(plugin);
    await list("include=author,comments.author,tags");
    expect(counting.statements.sort()).toEqual([
      "count post",
      "find comment",
      "find post",
      "find user",
      "find user",
      "pairs post",
    ]);
  });

  it("omits what the caller may not read: null for to-one, fewer records for to-many", async () => {
    await start(only("user", { id: "bob" }));
    const posts = await list("include=author,comments.author");
    expect(posts.map(({ author }) => (author as Row | null)?.id)).toEqual([undefined, undefined, "bob"]);
    const [first] = posts as [Row, ...Row[]];
    expect((first.comments as Row[]).map(({ author }) => (author as Row | null)?.id)).toEqual(["bob", undefined]);
    await kernel.close();
    await start(only("comment", { text: "two" }));
    expect((await list("include=comments")).map(({ comments }) => (comments as Row[]).length)).toEqual([1, 0, 0]);
    await kernel.close();
    await start(only("tag", { name: "red" }));
    expect((await list("include=tags")).map(({ tags }) => (tags as Row[]).length)).toEqual([1, 0, 0]);
  });

  it("returns null and empty lists for entities that the caller may not read at all", async () => {
    await start(deny("user", "comment", "tag", "cover"));
    const [post] = await list("include=author,comments,tags,cover");
    expect(post).toMatchObject({ author: null, comments: [], tags: [], cover: null });
  });

  it("does not reveal related records if the key may not be read", async () => {
    await start(hide("comment", "postId"));
    expect(await kernel.call("GET", "/posts", { search: "include=comments" })).toMatchObject({ status: 400 });
    const operation = await kernel.operation({ kind: "list", entity: "post", query: { include: { comments: {} } } });
    expect(operation.records[0]).toMatchObject({ comments: [] });
  });

  it("refuses to return more than 1,000 records and names the list to page through", async () => {
    await start();
    const { driver } = kernel.scope();
    const rows = Array.from({ length: 999 }, (_, i) => ({
      id: `x${i}`,
      text: "x",
      postId: "p1",
      authorId: null,
      createdAt: new Date(),
      updatedAt: new Date(),
    }));
    await driver.createMany("comment", rows.slice(0, 997));
    expect(await list("include=comments")).toHaveLength(3);
    await driver.createMany("comment", rows.slice(997));
    expect(await kernel.call("GET", "/posts", { search: "include=comments" })).toMatchObject({
      status: 400,
      body: {
        message:
          'Including "comments" would bring more than 1000 records; page through /comments?postId=<id of the post>.',
      },
    });
    expect(await list("include=comments&id=p3")).toHaveLength(1);
  });

  it("reveals nothing related to a caller who may write a record but not read it", async () => {
    const writers = createPlugin({
      id: "test/writers",
      hooks: {
        "operation:authorize": ({ entity, access, decision }) => {
          decision.allowed = entity.name !== "post" || access === "update";
        },
      },
    });
    await start(writers);
    const search = "include=tags,comments,author";
    const { body } = await kernel.call("PATCH", "/posts/p1", { search, body: { title: "Changed" } });
    expect(body).toEqual({ id: "p1" });
  });

  it("that is refused refuses its write, and nothing is stored", async () => {
    await start();
    const { driver } = kernel.scope();
    const now = new Date();
    const row = { text: "x", authorId: null, createdAt: now, updatedAt: now };
    await driver.createMany(
      "comment",
      Array.from({ length: 1_000 }, (_, i) => ({ ...row, id: `x${i}`, postId: "p1" })),
    );
    const search = "include=parent.comments";
    const body = { title: "Changed", authorId: "ann", parentId: "p1" };
    const refused = { status: 400, body: { message: expect.stringContaining("more than 1000 records") } };
    expect(await kernel.call("POST", "/posts", { search, body })).toMatchObject(refused);
    expect(await kernel.call("PATCH", "/posts/p2", { search, body })).toMatchObject(refused);
    expect(await kernel.call("PATCH", "/posts/p2", { search, body: { ...body, tagsIds: ["t1"] } })).toMatchObject(
      refused,
    );
    expect(await driver.count("post", { title: "Changed" })).toBe(0);
    expect(await driver.links("post", "tags", ["p2"])).toEqual([]);
  });

  it("counts the pairs of a manyToMany relation", async () => {
    await start();
    const { driver } = kernel.scope();
    const ids = Array.from({ length: 1_000 }, (_, i) => `n${i}`);
    await driver.createMany(
      "tag",
      ids.map((id) => ({ id, name: id })),
    );
    await driver.link("post", "tags", "p2", ids.slice(0, 997));
    expect((await list("include=tags&id=p1&id=p2&id=p3")).map(({ tags }) => (tags as Row[]).length)).toEqual([
      2, 997, 1,
    ]);
    await driver.link("post", "tags", "p2", ids);
    expect(await kernel.call("GET", "/posts", { search: "include=tags" })).toMatchObject({
      status: 400,
      body: {
        message: 'Including "tags" would bring more than 1000 records; page through /tags?posts.id=<id of the post>.',
      },
    });
  });

  it("counts no pairs with records that the caller may not read, and loads none", async () => {
    await start(only("tag", { name: { in: ["red", "n7"] } }));
    const { driver } = kernel.scope();
    const ids = Array.from({ length: 1_200 }, (_, i) => `n${i}`);
    await driver.createMany(
      "tag",
      ids.map((id) => ({ id, name: id })),
    );
    await driver.link("post", "tags", "p2", ids);
    expect((await list("include=tags")).map(({ tags }) => (tags as Row[]).map(({ id }) => id))).toEqual([
      ["t1"],
      ["n7"],
      [],
    ]);
  });

  it("loads only enough pairs of a manyToMany relation to refuse them", async () => {
    const base = memoryDriver(SEED);
    const loaded: number[] = [];
    const driver = withMiddleware(base, async (statement, next) => {
      if (statement.kind !== "pairs") return next(statement);
      const pairs = await next(statement);
      loaded.push(pairs.length);
      return pairs;
    });
    kernel = createFakeKernel()
      .withEntities(...library)
      .withDriver(driver);
    for (const plugin of [query(), relations(), crud()]) await kernel.use(plugin);
    const ids = Array.from({ length: 1_500 }, (_, i) => `n${i}`);
    await driver.createMany(
      "tag",
      ids.map((id) => ({ id, name: id })),
    );
    await driver.link("post", "tags", "p2", ids);
    expect(await kernel.call("GET", "/posts", { search: "include=tags" })).toMatchObject({ status: 400 });
    expect(loaded).toEqual([1_001]);
  });
});
