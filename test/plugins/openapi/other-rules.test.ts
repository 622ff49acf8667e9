import {
  action,
  belongsTo,
  createPlugin,
  defineRule,
  endpoint,
  entity,
  keelson,
  manyToMany,
  memoryDriver,
  noopLogger,
  string,
} from "keelson";
import { openapiDocument } from "keelson/openapi";
import { afterAll, describe, expect, it } from "vitest";

const author = entity("author", { name: string });
const note = entity("note", { text: string, author: belongsTo(() => author).optional() }).actions({
  stamp: action()
    .rules("authenticated")
    .handler(() => ({})),
});

/** Replaces the rules of definitions: all callers read notes, and users may do the rest. */
const engine = createPlugin({
  id: "acme/engine",
  provides: ["rules"],
  hooks: {
    "operation:authorize": ({ decision, access, entity: { name }, principal }) => {
      if (name !== "note") return;
      decision.allowed = access === "read" || principal.kind === "user";
    },
    "route:authorize": (payload) => {
      payload.allowed = payload.route.path !== "/secret" || payload.scope.principal.kind === "user";
    },
  },
});
const extras = createPlugin({
  id: "acme/extras",
  endpoints: {
    open: endpoint("/open", { rules: ["whatever"], handler: () => 1 }),
    secret: endpoint("/secret", { rules: ["everyone"], handler: () => 1 }),
  },
});

const api = keelson({
  entities: [author, note],
  driver: memoryDriver(),
  logger: noopLogger,
  production: false,
  getUser: ({ headers }) => (headers.get("authorization") === null ? null : { id: "ann" }),
  plugins: (defaults) => defaults.replace("rules", engine).with(extras),
});
afterAll(() => api.close());

async function documentOf(headers: Readonly<Record<string, string>>) {
  const answer = await api.fetch(new Request("http://host.invalid/openapi.json", { headers }));
  const { paths } = (await answer.json()) as { paths: Record<string, Record<string, { security?: object[] }>> };
  const routes = Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((m) => `${m} ${path}`));
  return { paths, routes: routes.filter((route) => !/docs|health|openapi/.test(route)).sort() };
}

describe("the document of an app with another rule engine", () => {
  it("lists what anonymous callers may use", async () => {
    const { routes, paths } = await documentOf({});
    expect(routes).toEqual([
      "get /api/notes",
      "get /api/notes/aggregate",
      "get /api/notes/{id}",
      "get /open",
      "post /api/batch",
    ]);
    expect(paths["/api/notes"]?.get?.security).toEqual([{}, { bearer: [] }]);
  });

  it("lists what a user may use, and which of it needs a user", async () => {
    const { routes, paths } = await documentOf({ authorization: "Bearer ann" });
    expect(routes).toEqual([
      "delete /api/notes/{id}",
      "get /api/notes",
      "get /api/notes/aggregate",
      "get /api/notes/{id}",
      "get /open",
      "get /secret",
      "patch /api/notes/{id}",
      "post /api/batch",
      "post /api/notes",
      "post /api/notes/stamp",
      "put /api/notes",
      "put /api/notes/{id}",
    ]);
    expect(paths["/api/notes"]?.post?.security).toEqual([{ bearer: [] }]);
    expect(paths["/secret"]?.get?.security).toEqual([{ bearer: [] }]);
  });

  it("lists all routes for the system, which is never restricted", async () => {
    const { paths } = await openapiDocument(api);
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(["/api/authors", "/api/notes", "/open", "/secret"]));
  });
});

describe("the document of an app with rules of its own", () => {
  it("shows a route for some records as one that may need a user", async () => {
    const shown = defineRule("shown", ({ user }) => user !== null || { text: "shown" });
    const memo = entity("memo", { text: string }).rules({ read: [shown] });
    const app = keelson({ entities: [memo], driver: memoryDriver(), logger: noopLogger, production: false });
    const { paths } = await openapiDocument(app, { as: "public" });
    expect(paths["/api/memos"]?.get?.security).toEqual([{ bearer: [] }]);
    await app.close();
  });
});

describe("an app with another plugin in place of crud", () => {
  const tag = entity("tag", { label: string }).rules({
    read: ["everyone"],
    create: ["everyone"],
    update: ["everyone"],
  });
  const post = entity("post", { title: string, first: belongsTo(() => tag), tags: manyToMany(() => tag) }).rules({
    read: ["everyone"],
    create: ["everyone"],
    update: ["everyone"],
  });
  const mine = createPlugin({
    id: "acme/json-api",
    requires: ["rules", "validation"],
    setup({ routes }) {
      routes.add({
        method: "GET",
        path: "/posts",
        entity: post.build(),
        action: "list",
        access: "read",
        handler: async ({ scope }) =>
          (await scope.run({ kind: "list", entity: "post", query: { include: { first: {}, tags: {} } } })).records,
      });
    },
  });

  it.each(["replaced", "left out"])("includes related records and stores links when crud is %s", async (how) => {
    const app = keelson({
      entities: [tag, post],
      driver: memoryDriver(),
      logger: noopLogger,
      plugins: (defaults) =>
        how === "replaced" ? defaults.replace("crud", mine) : defaults.without("crud").with(mine),
    });
    const client = app.as({ id: "ann" });
    const { id } = await client.tag.create({ label: "news" });
    await client.post.create({ title: "Hello", firstId: id, tagsIds: [id] } as never);
    const answer = await app.fetch(new Request("http://host.invalid/api/posts"));
    expect(await answer.json()).toMatchObject([
      { title: "Hello", first: { label: "news" }, tags: [{ label: "news" }] },
    ]);
    await app.close();
  });

  it("leaves both to a plugin that provides them", async () => {
    const other = createPlugin({ id: "acme/relations", provides: ["relations"] });
    const app = keelson({
      entities: [tag],
      driver: memoryDriver(),
      logger: noopLogger,
      plugins: (defaults) => defaults.replace("crud", mine).with(other),
    });
    await app.ready;
    await app.close();
  });
});
