import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AnyEntity } from "../../src/entity/index.ts";
import type { EntityClient, PluginContext, RecordChange } from "../../src/gate/index.ts";
import {
  action,
  belongsTo,
  bool,
  bulkDeleteAction,
  bulkUpdateAction,
  cloneAction,
  createEntityStep,
  createPlugin,
  type Driver,
  datetime,
  entity,
  importAction,
  keelson,
  manyToMany,
  memoryDriver,
  noopLogger,
  type Plugin,
  restoreAction,
  softDeleteAction,
  string,
  toggleAction,
  workflow,
} from "../../src/index.ts";
import { openPage } from "../support/page.ts";
import { ALL_DATABASES, type TestDatabase } from "../support/sql-databases.ts";

let work: (driver: Driver) => Promise<unknown>;
const open = { read: ["everyone"], create: ["everyone"], update: ["everyone"], delete: ["everyone"] } as const;
const author = entity("author", { name: string }).rules(open);
const tag = entity("tag", { name: string }).rules(open);
const post = entity("post", {
  title: string.max(20),
  live: bool.default(false),
  deletedAt: datetime.optional(),
  author: belongsTo(() => author)
    .optional()
    .onDelete("cascade"),
  tags: manyToMany(() => tag),
})
  .rules(open)
  .actions({
    bulkDelete: bulkDeleteAction,
    bulkUpdate: bulkUpdateAction,
    clone: cloneAction,
    import: importAction,
    softDelete: softDeleteAction,
    restore: restoreAction,
    toggle: toggleAction("live"),
    byHand: action("by-hand")
      .post()
      .handler(async ({ driver }) => {
        await driver.createMany("post", [
          { id: "h1", title: "one", live: false },
          { id: "h2", title: "two", live: false },
        ]);
        await driver.updateMany("post", { id: { in: ["h1", "h2"] } }, { title: "both" });
        await driver.delete("post", { id: "h1" });
      }),
    work: action("work")
      .post()
      .handler(async ({ driver }) => void (await work(driver))),
    byStep: action("by-step")
      .post()
      .workflow(workflow("by-step").addStep(createEntityStep("draft", "post", { title: "by a step" }))),
  });
const comment = entity("comment", {
  text: string,
  post: belongsTo(() => post).onDelete("cascade"),
  reply: belongsTo(() => comment)
    .optional()
    .onDelete("setNull"),
}).rules(open);

describe.each(ALL_DATABASES)("changes of records on %s", (_name, openDatabase) => {
  let database: TestDatabase;
  let seen: RecordChange[] = [];
  let committed: RecordChange[] = [];
  let refuse = false;
  let meanwhile = (): unknown => undefined;
  const listener = createPlugin({
    id: "acme/listener",
    setup({ records }) {
      const appliesTo = ({ name }: { readonly name: string }): boolean => name === "post" || name === "comment";
      records.onChange(
        async (changes) => {
          if (changes[0]?.kind === "delete") await meanwhile();
          if (refuse) throw new Error("The listener is full");
          seen.push(...changes);
        },
        { appliesTo },
      );
      records.onCommitted((changes) => void committed.push(...changes), { appliesTo });
    },
  });
  let api: ReturnType<typeof start>;
  const start = () =>
    keelson({
      entities: [author, tag, post, comment],
      driver: database.driver,
      plugins: [listener],
      logger: noopLogger,
      getUser: () => ({ id: "ann" }),
    });

  beforeAll(async () => {
    database = await openDatabase();
    api = start();
    await api.ready;
  });
  afterAll(async () => {
    await api.close();
    await database.drop();
  });
  beforeEach(async () => {
    refuse = false;
    meanwhile = () => undefined;
    const system = api.asSystem();
    const clients = [
      system.comment,
      system.post,
      system.author,
      system.tag,
    ] as unknown as readonly EntityClient<AnyEntity>[];
    for (const client of clients) for (const { id } of (await client.list()).data) await client.delete(id as string);
    seen = [];
    committed = [];
  });

  const ask = async (method: string, path: string, body?: unknown): Promise<Response> => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    return api.fetch(
      new Request(`http://localhost/api/${path}`, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
      }),
    );
  };
  const told = (changes: readonly RecordChange[]): unknown[] =>
    changes.map(({ entity: { name }, kind, id }) => `${kind} ${name} ${id}`);
  const add = async (id: string, more: object = {}) => api.asSystem().post.create({ id, title: id, ...more } as never);

  it("has the old record, the new record, and the caller", async () => {
    await add("p");
    await ask("PATCH", "posts/p", { title: "new" });
    await ask("DELETE", "posts/p");
    expect(seen).toMatchObject([
      { kind: "create", id: "p", before: null, after: { title: "p" }, cause: { principal: { kind: "system" } } },
      {
        kind: "update",
        before: { title: "p" },
        after: { title: "new" },
        cause: { principal: { user: { id: "ann" } } },
      },
      { kind: "delete", before: { title: "new" }, after: null },
    ]);
    expect(seen[1]?.entity.name).toBe("post");
    expect(committed).toEqual(seen);
  });

  it("is reported for every surface that writes", async () => {
    const created = (await (await ask("POST", "posts", { title: "a" })).json()) as { readonly id: string };
    await ask("POST", `posts/${created.id}/toggle-live`);
    const copy = (await (await ask("POST", `posts/${created.id}/clone`)).json()) as { readonly id: string };
    await ask("POST", `posts/import`, [{ title: "b" }]);
    await ask("POST", "posts/bulk-update", { ids: [created.id, copy.id], data: { title: "c" } });
    await ask("DELETE", `posts/${copy.id}/soft`);
    await ask("POST", `posts/${copy.id}/restore`);
    await ask("POST", "posts/bulk-delete", { ids: [created.id, copy.id] });
    await ask("POST", "posts/by-step");
    expect(seen.map(({ kind }) => kind)).toEqual([
      "create",
      "update",
      "create",
      "create",
      "update",
      "update",
      "update",
      "update",
      "delete",
      "delete",
      "create",
    ]);
    expect(committed).toEqual(seen);
  });

  it("is reported for writes through the handlers' driver, one record at a time", async () => {
    expect((await ask("POST", "posts/by-hand")).status).toBe(204);
    expect(told(seen)).toEqual([
      "create post h1",
      "create post h2",
      "update post h1",
      "update post h2",
      "delete post h1",
    ]);
    expect(seen[3]).toMatchObject({ before: { title: "two" }, after: { title: "both" }, cause: { action: "byHand" } });
    expect(committed).toEqual(seen);
  });

  it("is reported for added and removed pairs, on the side of the write", async () => {
    const system = api.asSystem();
    await system.tag.create({ id: "t1", name: "t1" });
    await system.tag.create({ id: "t2", name: "t2" });
    await add("p", { tagsIds: ["t1"] });
    seen = [];
    await ask("PATCH", "posts/p", { tagsIds: ["t1", "t2"] });
    await ask("PATCH", "posts/p", { tagsIds: ["t2"] });
    const pairs = seen.filter(({ relation }) => relation === "tags");
    expect(pairs).toMatchObject([
      { kind: "link", id: "p", before: null, after: { tags: ["t2"] } },
      { kind: "unlink", id: "p", before: { tags: ["t1"] }, after: null },
    ]);
  });

  it("has the records that a deletion removes too, before the deleted record", async () => {
    const system = api.asSystem();
    await system.author.create({ id: "ann", name: "Ann" });
    await add("p", { authorId: "ann" });
    await add("q");
    await system.comment.create({ id: "c1", text: "x", postId: "p" });
    await system.comment.create({ id: "c2", text: "y", postId: "q", replyId: "c1" });
    seen = [];
    committed = [];
    expect((await ask("DELETE", "authors/ann")).status).toBe(200);
    expect(told(seen)).toEqual(["update comment c2", "delete comment c1", "delete post p"]);
    expect(seen[0]).toMatchObject({ before: { replyId: "c1" }, after: { replyId: null } });
    expect(committed).toEqual(seen);
    expect((await system.comment.list()).data.map(({ id }) => id)).toEqual(["c2"]);
  });

  it("includes a record that is stored while its reference is being deleted", async () => {
    await add("p");
    const storing: Promise<Response>[] = [];
    meanwhile = () => {
      storing.push(ask("POST", "comments", { text: "late", postId: "p" }));
      return setTimeout(50);
    };
    expect((await ask("DELETE", "posts/p")).status).toBe(200);
    expect(storing).toHaveLength(1);
    expect((await Promise.all(storing)).map(({ status }) => status)).not.toContain(500);
    const stored = seen.filter(({ entity: { name } }) => name === "comment").map(({ kind }) => kind);
    expect(stored.filter((kind) => kind === "create")).toHaveLength(stored.filter((kind) => kind === "delete").length);
    expect(await api.asSystem().comment.count()).toBe(0);
  });

  it("is rolled back when a listener throws", async () => {
    refuse = true;
    expect((await ask("POST", "posts", { title: "a" })).status).toBe(500);
    refuse = false;
    expect(await api.asSystem().post.count()).toBe(0);
    expect(committed).toEqual([]);
  });

  it("is not announced when its transaction fails", async () => {
    work = (driver) =>
      driver.transaction(async (inner) => {
        await inner.create("post", { id: "x", title: "x" });
        throw new Error("No");
      });
    expect((await ask("POST", "posts/work")).status).toBe(500);
    expect(told(seen)).toEqual(["create post x"]);
    expect(committed).toEqual([]);
  });

  it("is announced when the outermost transaction has committed", async () => {
    work = (driver) =>
      driver.transaction(async (outer) => {
        await outer.transaction((inner) => inner.create("post", { id: "x", title: "x" }));
        expect(committed).toEqual([]);
      });
    expect((await ask("POST", "posts/work")).status).toBe(204);
    expect(told(committed)).toEqual(["create post x"]);
  });
});

describe("the outbox of the page on hooks", () => {
  it("has a row for each change, and none for one that is rolled back", async () => {
    const page = openPage("reference/hooks");
    const { outbox } = await page.load<{ outbox: Plugin }>("outbox.ts");
    const project = entity("project", { name: string.unique() }).rules(open);
    const driver = memoryDriver();
    const api = keelson({ entities: [project], driver, plugins: [outbox], logger: noopLogger });
    const client = api.asSystem().project;
    const { id } = await client.create({ name: "a" });
    await client.update(id, { name: "b" });
    await expect(client.create({ name: "b" })).rejects.toThrow();
    const rows = await driver.findMany("outboxEntry");
    expect(rows.map(({ kind, recordId, after }) => [kind, recordId, after]).sort()).toEqual([
      ["create", id, { name: "a" }],
      ["update", id, { name: "b" }],
    ]);
    await api.close();
    await page.remove();
  });
});

describe("listeners to changes", () => {
  const start = (setup: (context: PluginContext) => void) => (): unknown =>
    keelson({ entities: [author], plugins: [createPlugin({ id: "acme/one", setup })], logger: noopLogger });

  it("stop the start when they are not functions, or have unknown options", () => {
    expect(start(({ records }) => records.onChange(undefined as never))).toThrow("it takes a function");
    const misspelt = start(({ records }) => records.onCommitted(() => {}, { applysTo: () => true } as never));
    expect(misspelt).toThrow('Did you mean "appliesTo"?');
  });
});
