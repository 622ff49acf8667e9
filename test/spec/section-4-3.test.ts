import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { action, belongsTo, type Driver, entity, int, keelson, noopLogger, string } from "../../src/index.ts";
import { request, startApp } from "../support/http.ts";
import { SQL_DATABASES, type SqlDatabase } from "../support/sql-databases.ts";

// Section 4.3 of the specification: the parts of an action definition, its handler's context, and action(name?).

const everybody = { create: ["everyone"], read: ["everyone"], update: ["everyone"], delete: ["everyone"] } as const;
const author = entity("author", { name: string }).rules(everybody);
const post = entity("post", {
  title: string.min(2),
  state: string.default("draft"),
  views: int.default(0),
  author: belongsTo(() => author).optional(),
})
  .rules(everybody)
  .actions({
    publish: {
      method: "POST",
      path: "/:id/publish",
      description: "Shows the post to everybody",
      async handler(ctx) {
        await ctx.driver.update(ctx.entity, { id: ctx.params.id }, { state: "published" });
        return ctx.driver.findOne(ctx.entity, { id: ctx.params.id });
      },
    },
    titles: {
      method: "GET",
      path: "/titles",
      async handler(ctx) {
        const posts = await ctx.driver.findMany(ctx.entity);
        return { entity: ctx.entity.name, titles: posts.map(({ title }) => title).sort() };
      },
    },
    ofAuthor: {
      method: "GET",
      path: "/of/:authorId/from/:views",
      handler: ({ driver, params: { authorId, views } }) =>
        driver.findMany("post", { where: { authorId, views: { gte: Number(views) } } }),
    },
    views: { method: "put", path: "/:id/views", handler: ({ record, input }) => ({ was: record?.views, input }) },
    change: { method: "PATCH", path: "/:id/change", handler: ({ params }) => params },
    forget: { method: "DELETE", path: "/:id/forget", handler: () => undefined },
    ping: { handler: () => "pong" },
    reject: action("refuse")
      .onResource()
      .input({ reason: string.max(20) })
      .handler(async ({ record, input, driver }) =>
        driver.update("post", { id: record.id }, { state: "rejected", title: input.reason }),
      ),
    unnamed: action().handler(({ entity: { name } }) => name),
  });

describe.each(SQL_DATABASES)("on %s", (_name, openDatabase) => {
  let database: SqlDatabase;
  let url: string;
  let close: () => Promise<void>;
  beforeAll(async () => {
    database = await openDatabase();
    const makeApp = (driver: Driver) => keelson({ entities: [author, post], driver, logger: noopLogger });
    ({ url, close } = await startApp(makeApp(database.driver)));
  });
  afterAll(async () => {
    await close();
    await database.drop();
  });
  const send = (method: string, path: string, body?: unknown) =>
    request(url, method, `/api${path}`, body === undefined ? {} : { body });
  const make = async (data: object = {}) => (await send("POST", "/posts", { title: "First", ...data })).json;

  it("4.3: a definition's method and path are the route of its handler", async () => {
    const { id } = await make();
    const { status, json } = await send("POST", `/posts/${id}/publish`);
    expect([status, json.state]).toEqual([200, "published"]);
    expect(await send("GET", `/posts/${id}/publish`)).toMatchObject({ status: 405 });
    expect(await send("PATCH", `/posts/${id}/change`)).toMatchObject({ status: 200, json: { id } });
    expect(await send("DELETE", `/posts/${id}/forget`)).toMatchObject({ status: 204, json: undefined });
  });

  it("4.3: ctx.params has the path's parameters, decoded", async () => {
    const { id: authorId } = (await send("POST", "/authors", { name: "Ann" })).json;
    const { id } = await make({ authorId, views: 7 });
    await make({ authorId, views: 2 });
    const { json } = await send("GET", `/posts/of/${authorId}/from/5`);
    expect(json.map((row: { id: string }) => row.id)).toEqual([id]);
    expect((await send("GET", "/posts/of/%C3%A9%20x/from/5")).json).toEqual([]);
  });

  it("4.3: ctx.driver updates, finds one and finds many; ctx.entity is the entity", async () => {
    const title = `T${Math.random()}`;
    await make({ title });
    const { json } = await send("GET", "/posts/titles");
    expect(json.entity).toBe("post");
    expect(json.titles).toContain(title);
    const [row] = await database.rows(`SELECT "state" FROM "post" WHERE "title" = '${title}'`);
    expect(row?.state).toBe("draft");
  });

  it("4.3: the handler's result is the response", async () => {
    expect((await send("POST", "/posts/ping")).json).toBe("pong");
    const { id } = await make({ views: 3 });
    const { status, json } = await send("PUT", `/posts/${id}/views`, { any: ["thing"] });
    expect([status, json]).toEqual([200, { was: 3, input: { any: ["thing"] } }]);
  });

  it("4.3: an action on a missing record is 404, before its handler runs", async () => {
    for (const id of ["nothing-here", "x".repeat(129)]) {
      expect((await send("POST", `/posts/${id}/publish`)).status).toBe(404);
      expect((await send("POST", `/posts/${id}/refuse`, { reason: "r" })).status).toBe(404);
      expect((await send("PATCH", `/posts/${id}/change`)).status).toBe(404);
    }
  });

  it("4.3: action(name?) builds an action: its path is the name, or else the key", async () => {
    const { id } = await make();
    expect((await send("POST", `/posts/${id}/refuse`, { reason: "Too short" })).json).toMatchObject({
      id,
      state: "rejected",
      title: "Too short",
    });
    expect((await send("POST", `/posts/${id}/reject`, { reason: "Too short" })).status).toBe(404);
    expect((await send("POST", "/posts/unnamed")).json).toBe("post");
  });

  it("4.3: the input is validated against its declaration before the handler runs", async () => {
    const { id } = await make();
    const wrong = await send("POST", `/posts/${id}/refuse`, { reason: "x".repeat(21), reasons: "?" });
    expect(wrong.status).toBe(400);
    expect(Object.keys(wrong.json.errors).sort()).toEqual(["reason", "reasons"]);
    expect((await send("POST", `/posts/${id}/refuse`)).json.errors).toEqual({ reason: "is required" });
    expect((await send("GET", `/posts/${id}`)).json.state).toBe("draft");
  });
});
