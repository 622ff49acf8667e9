import { Validator } from "@seriousme/openapi-schema-validator";
import { createPlugin, defaultPlugins, entity, keelson, memoryDriver, noopLogger, string } from "keelson";
import { type OpenApiDocument, openapi, openapiDocument } from "keelson/openapi";
import { RouteNotes } from "keelson/plugin";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createDocumentedApp, USERS } from "./documented-app.ts";

const api = createDocumentedApp();
afterAll(() => api.close());

const READERS = { nobody: "public", ann: USERS.ann, boss: USERS.boss, "the system": "system" } as const;

/** Operations as `get /path`. */
function operations({ paths }: OpenApiDocument): string[] {
  return Object.entries(paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method} ${path}`));
}

function propertiesOf(document: OpenApiDocument, name: string): Record<string, unknown> {
  return (document.components.schemas[name] as { properties: Record<string, unknown> }).properties;
}

function parametersOf(document: OpenApiDocument, path: string, method: string): string[] {
  return (document.paths[path]?.[method]?.parameters ?? []).map((parameter) => {
    const { $ref, name } = parameter as { $ref?: string; name?: string };
    return String(name ?? document.components.parameters[$ref?.split("/").at(-1) as string]?.name);
  });
}

async function problemsOf(document: OpenApiDocument): Promise<unknown> {
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)));
  return valid ? [] : errors;
}

describe("the document", () => {
  it.each(Object.entries(READERS))("is valid OpenAPI 3.1 for %s", async (_name, as) => {
    const document = await openapiDocument(api, { as });
    expect(document.openapi).toBe("3.1.1");
    expect(await problemsOf(document)).toEqual([]);
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  it("lists the tags of records before those of plugins", async () => {
    const { tags } = await openapiDocument(api, { as: "system" });
    const isOfPlugin = tags.map(({ description = "" }) => description.startsWith("Routes of the plugin"));
    expect(isOfPlugin).toEqual(isOfPlugin.toSorted());
    expect(new Set(isOfPlugin).size).toBe(2);
  });

  const removable = defaultPlugins().ids.filter(
    (id) => !["rules", "validation", "query", "relations", "openapi"].includes(id),
  );
  it.each(removable)("is valid without the plugin %s", async (id) => {
    const note = entity("note", { text: string }).rules({ read: ["everyone"], create: ["everyone"] });
    const app = keelson({
      entities: [note],
      driver: memoryDriver(),
      logger: noopLogger,
      plugins: (defaults) => defaults.without(id),
    });
    onTestFinished(() => app.close());
    const document = await openapiDocument(app);
    expect(await problemsOf(document)).toEqual([]);
    expect(operations(document).includes("get /api/notes")).toBe(id !== "crud");
  });

  it("has every route that a caller may use, and no other", async () => {
    const found = operations(await openapiDocument(api)).sort();
    const listed = api.routes
      .filter(({ rules, action }) => rules.length > 0 && !action.startsWith("docs"))
      .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
    expect(found).toEqual(listed.sort());
    expect(found).not.toContain("get /nobody");
    expect(found.filter((line) => line.includes("closed"))).toEqual([]);
  });

  it("gives operations stable, unique ids, and a route's own summary and tags", async () => {
    const { paths } = await openapiDocument(api);
    const all = Object.values(paths).flatMap((item) => Object.values(item));
    const ids = all.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(
      expect.arrayContaining(["listPosts", "readPost", "createPost", "updatePost", "deletePost", "renamePost"]),
    );
    expect(paths["/api/posts/{id}"]?.put?.operationId).toBe("updatePostByPut");
    expect(paths["/api/posts/bulk-delete"]?.post?.operationId).toBe("bulkDeletePostByPost");
    expect(paths["/api/posts/{id}/rename"]?.post).toMatchObject({
      summary: "Give it another title",
      tags: ["Editing"],
    });
    expect(paths["/ping"]?.get).toMatchObject({ operationId: "extrasPing", summary: "Ping", tags: ["extras"] });
  });

  it("describes the input and output of each kind of field", async () => {
    const document = await openapiDocument(api, { as: USERS.boss });
    expect(propertiesOf(document, "Post")).toMatchObject({
      id: { type: "string", maxLength: 128, readOnly: true },
      title: { type: "string", minLength: 3, maxLength: 80, description: "Shown on top", examples: ["Hello"] },
      body: { type: ["string", "null"], maxLength: 1_048_576 },
      views: { type: "integer", minimum: 0, maximum: 2_147_483_647, readOnly: true },
      rating: { type: ["number", "null"], exclusiveMinimum: 0 },
      status: { type: "string", enum: ["draft", "live"] },
      published: { type: "boolean" },
      homepage: { type: ["string", "null"], format: "uri" },
      at: { type: ["string", "null"], format: "date-time" },
      meta: {},
      authorId: { type: "string", maxLength: 128 },
      author: { anyOf: [{ $ref: "#/components/schemas/User" }, { type: "null" }] },
      tags: { type: "array", items: { $ref: "#/components/schemas/Tag" } },
    });
    expect(propertiesOf(document, "Tag").label).toMatchObject({ pattern: "^[a-z]+$", minLength: 2, maxLength: 20 });
    expect(propertiesOf(document, "User").email).toEqual({ type: "string", format: "email", maxLength: 255 });
    const { PostCreate, PostUpdate } = document.components.schemas;
    expect(PostCreate).toMatchObject({ required: ["title"] });
    expect(PostUpdate).not.toHaveProperty("required");
    expect(Object.keys(propertiesOf(document, "PostCreate")).sort()).toEqual(
      "at author authorId body homepage meta published rating status tags tagsIds title".split(" "),
    );
    expect(propertiesOf(document, "PostCreate").status).toMatchObject({ default: "draft" });
  });

  it("has an error response for each status that a route can return, and no other", async () => {
    const { paths, components } = await openapiDocument(api);
    const of = (path: string, method: string) =>
      Object.keys(paths[path]?.[method]?.responses ?? {}).filter((status) => /^[45d]/.test(status));
    expect(of("/api/posts", "get")).toEqual("400 401 500 503".split(" "));
    expect(of("/api/posts", "post")).toEqual("400 401 403 409 413 415 500 503".split(" "));
    expect(of("/api/posts/{id}", "delete")).toEqual("400 401 403 404 409 412 500 503".split(" "));
    expect(of("/api/posts/{id}/exists", "get")).toEqual("400 401 500 503".split(" "));
    expect(of("/health/live", "get")).toEqual("400 500 503".split(" "));
    expect(of("/ping", "get")).toEqual("400 401 500 503 default".split(" "));
    const used = new Set(JSON.stringify(paths).match(/#\/components\/responses\/\w+/g));
    expect(
      Object.keys(components.responses)
        .map((name) => `#/components/responses/${name}`)
        .sort(),
    ).toEqual([...used].sort());
  });

  it("includes the notes of other plugins about routes", async () => {
    const limits = createPlugin({
      id: "limits",
      start: ({ use }) => use(RouteNotes).add(({ method }) => (method === "POST" ? { errors: [429] } : undefined)),
    });
    const app = createDocumentedApp({ plugins: [limits] });
    onTestFinished(() => app.close());
    await app.ready;
    const { paths, components } = await openapiDocument(app);
    expect(paths["/api/posts"]?.post?.responses[429]).toEqual({ $ref: "#/components/responses/TooManyRequests" });
    expect(paths["/api/posts"]?.get?.responses).not.toHaveProperty("429");
    expect(components.responses.TooManyRequests).toHaveProperty("headers.Retry-After");
  });

  it("has the app's title, servers and authentication", async () => {
    const info = { title: "Shop", version: "2.1.0", description: "What we sell." };
    const servers = [{ url: "https://shop.example" }];
    const securitySchemes = { session: { type: "apiKey", in: "cookie", name: "session" } };
    const app = createDocumentedApp({
      plugins: (defaults) => defaults.replace("openapi", openapi({ info, servers, securitySchemes })),
    });
    onTestFinished(() => app.close());
    const document = await openapiDocument(app, { info: { version: "2.2.0" } });
    expect(document).toMatchObject({ info: { ...info, version: "2.2.0" }, servers, components: { securitySchemes } });
    expect(document.paths["/api/posts"]?.get?.security).toEqual([{}, { session: [] }]);
    expect(document.paths["/api/posts"]?.post?.security).toEqual([{ session: [] }]);
    expect(document.paths["/health/live"]?.get?.security).toEqual([]);
    expect(await problemsOf(document)).toEqual([]);
  });

  it("has no authentication if everything is public", async () => {
    const note = entity("note", { text: string }).rules({
      read: ["everyone"],
      create: ["everyone"],
      update: ["everyone"],
      delete: ["everyone"],
    });
    const app = keelson({ entities: [note], driver: memoryDriver(), logger: noopLogger });
    onTestFinished(() => app.close());
    const { components, paths } = await openapiDocument(app);
    expect(components).not.toHaveProperty("securitySchemes");
    expect(paths["/api/notes"]?.get).not.toHaveProperty("security");
  });

  it("separates entities whose schemas would have the same name", async () => {
    const all = { read: ["everyone"], create: ["everyone"] } as const;
    const app = keelson({
      entities: ["post", "postCreate", "error"].map((name) => entity(name, { [`${name}Text`]: string }).rules(all)),
      driver: memoryDriver(),
      logger: noopLogger,
    });
    onTestFinished(() => app.close());
    const document = await openapiDocument(app);
    expect(await problemsOf(document)).toEqual([]);
    const shown = Object.entries(document.components.schemas).map(
      ([name, { properties }]) => `${name}: ${Object.keys(properties as object).filter((key) => key.endsWith("Text"))}`,
    );
    expect(shown).toEqual(
      expect.arrayContaining([
        "Post: postText",
        "PostCreate: postText",
        "PostCreateEntity: postCreateText",
        "ErrorEntity: errorText",
        "Error: ",
      ]),
    );
  });
});

describe("the document of a reader", () => {
  it("lists the operations that the reader may use", async () => {
    const nobody = operations(await openapiDocument(api, { as: "public" }));
    const ann = operations(await openapiDocument(api, { as: USERS.ann }));
    const boss = operations(await openapiDocument(api, { as: USERS.boss }));
    expect(nobody).toEqual(expect.arrayContaining(["get /api/posts", "post /api/users", "get /api/posts/export"]));
    expect(nobody).not.toContain("post /api/posts");
    expect(ann).toContain("post /api/posts");
    expect(ann).toContain("patch /api/posts/{id}");
    for (const line of [
      "post /api/tags",
      "post /api/posts/secretly",
      "get /teapots/{size}",
      "delete /api/users/{id}",
    ]) {
      expect(ann).not.toContain(line);
      expect(boss).toContain(line);
    }
  });

  it("lists the fields, filters and sorts that the reader may use", async () => {
    const nobody = await openapiDocument(api, { as: "public" });
    const boss = await openapiDocument(api, { as: USERS.boss });
    expect(propertiesOf(nobody, "User")).not.toHaveProperty("email");
    expect(propertiesOf(boss, "User")).toHaveProperty("email");
    const filters = (document: OpenApiDocument) => parametersOf(document, "/api/users", "get");
    expect(filters(nobody).filter((name) => name.startsWith("email"))).toEqual([]);
    expect(filters(boss)).toEqual(expect.arrayContaining(["email", "email_like", "_where"]));
    expect(propertiesOf(nobody, "UserWhere")).not.toHaveProperty("email");
    expect(propertiesOf(boss, "UserWhere")).toHaveProperty("email");
    expect(propertiesOf(boss, "PostWhere").author).toEqual({
      anyOf: [{ $ref: "#/components/schemas/UserWhere" }, { type: "null" }],
    });
    const sorts = (document: OpenApiDocument) =>
      JSON.stringify(
        document.components.parameters["User._sort"] ??
          document.paths["/api/users"]?.get?.parameters?.find(({ name }) => name === "_sort"),
      );
    expect(sorts(nobody)).not.toContain("email");
    expect(sorts(boss)).toContain("-email");
  });

  it("describes a field that depends on the record as optional", async () => {
    const { components } = await openapiDocument(api, { as: USERS.ann });
    expect(components.schemas.User?.properties).toHaveProperty("note");
    expect(components.schemas.User?.required).toEqual(["id", "name", "createdAt", "updatedAt"]);
  });

  it("describes soft deletion only to readers who may restore", async () => {
    const filters = async (as: "public" | typeof USERS.ann) =>
      parametersOf(await openapiDocument(api, { as }), "/api/posts", "get");
    expect(await filters("public")).not.toContain("_deleted");
    expect(await filters(USERS.ann)).toContain("_deleted");
  });

  it.each(Object.entries(READERS))(
    "never shows %s passwords and omitted fields in responses or filters",
    async (_name, as) => {
      const document = await openapiDocument(api, { as });
      for (const name of ["User", "UserWhere"])
        for (const field of ["password", "token"]) expect(propertiesOf(document, name)).not.toHaveProperty(field);
      const names = Object.entries(document.paths).flatMap(([path, item]) =>
        Object.keys(item).flatMap((method) => parametersOf(document, path, method)),
      );
      expect(names.filter((name) => /password|token/.test(name))).toEqual([]);
      expect(propertiesOf(document, "UserCreate").password).toMatchObject({ writeOnly: true });
      expect(JSON.stringify(document.paths)).not.toMatch(/password|token/);
    },
  );

  it("has no literal default of a protected field", async () => {
    const safe = entity("safe", {
      code: string.default("4711-canary").readable("admin"),
      door: string.default("left"),
    });
    const app = keelson({
      entities: [safe.rules({ read: ["everyone"], create: ["everyone"] })],
      driver: memoryDriver(),
      logger: noopLogger,
    });
    onTestFinished(() => app.close());
    const text = JSON.stringify(await openapiDocument(app));
    expect(text).toContain("left");
    expect(text).not.toContain("canary");
  });
});
