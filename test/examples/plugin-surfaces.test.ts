import {
  action,
  bulkUpdateAction,
  cloneAction,
  countAction,
  createEntityStep,
  createPlugin,
  entity,
  exportAction,
  importAction,
  keelson,
  memoryDriver,
  noopLogger,
  runWorkflow,
  string,
  workflow,
} from "keelson";
import { describe, expect, it, onTestFinished } from "vitest";
import { graphql } from "../../examples/plugins/graphql/src/index.ts";
import { jsonApi } from "../../examples/plugins/json-api/src/index.ts";
import { mcp } from "../../examples/plugins/mcp/src/index.ts";
import { tenancy } from "../../examples/plugins/tenancy/src/index.ts";

const all = ["authenticated"];
const plain = entity("note", { text: string.unique() }).rules({ create: all, read: all, update: all, delete: all });
const note = plain.actions({
  import: importAction(),
  export: exportAction(),
  count: countAction(),
  bulkUpdate: bulkUpdateAction(),
  clone: cloneAction(),
  texts: action()
    .get()
    .rules("authenticated")
    .handler(async ({ driver }) => (await driver.findMany("note")).map(({ text }) => text)),
  add: action()
    .rules("authenticated")
    .handler(async ({ driver }) => driver.create("note", { text: "by a handler" })),
});
const red = { id: "ann", tenantId: "red" };
const blue = { id: "ben", tenantId: "blue" };

/** An app with a plugin that restricts, one that stamps, and one that listens, and with third-party surfaces. */
async function boot(routes: "crud" | "json-api") {
  const heard: string[] = [];
  const listener = createPlugin({
    id: "test/listener",
    setup: ({ records }) =>
      records.onChange((changes) => {
        for (const { kind, after, before } of changes) heard.push(`${kind} ${(after ?? before)?.text}`);
      }),
  });
  const api = keelson({
    entities: [routes === "crud" ? note : (plain as typeof note)], // JSON:API has no service for the query strings of actions
    driver: memoryDriver(),
    logger: noopLogger,
    plugins: (defaults) => [
      ...(routes === "crud" ? defaults : defaults.replace("crud", jsonApi())),
      tenancy(),
      graphql(),
      mcp({ writes: true }),
      listener,
    ],
    getUser: ({ headers }) => ({ ann: red, ben: blue })[headers.get("x-user") ?? ""] ?? null,
  });
  onTestFinished(() => api.close());
  await api.ready;
  const ask = async (user: string, method: string, path: string, body?: unknown, type = "application/json") => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { "content-type": type, "x-user": user };
    const response = await api.fetch(new Request(`http://test.invalid${path}`, { method, headers, ...sent }));
    const text = await response.text();
    return { status: response.status, text };
  };
  const stored = async () =>
    (await api.driver.findMany("note", { sort: [{ field: "text", direction: "asc" }] })).map(
      ({ text, tenantId }) => `${text}: ${tenantId}`,
    );
  return { api, ask, heard, stored };
}
const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });

/** Ways to write a note with this text, and ways to read one. */
type Ask = Awaited<ReturnType<typeof boot>>["ask"];
const WRITES: Readonly<Record<string, (ask: Ask, app: Awaited<ReturnType<typeof boot>>) => Promise<unknown>>> = {
  "a route": (ask) => ask("ann", "POST", "/api/notes", { text: "new" }),
  "an import": (ask) => ask("ann", "POST", "/api/notes/import", [{ text: "new" }]),
  "a handler's driver": async (ask) => ask("ann", "POST", "/api/notes/add"),
  "a client in the process": (_ask, { api }) => api.as(red).note.create({ text: "new" }),
  "a step of a workflow": (_ask, { api }) =>
    runWorkflow(workflow([createEntityStep("make", note, () => ({ text: "new" }))]), {
      resolve: api.resolve,
      user: red,
    }),
  GraphQL: (ask) => ask("ann", "POST", "/graphql", { query: 'mutation { createNote(data: { text: "new" }) { id } }' }),
  MCP: (ask) =>
    ask("ann", "POST", "/mcp", rpc("tools/call", { name: "create_note", arguments: { data: { text: "new" } } })),
};
const READS: Readonly<Record<string, (ask: Ask, user: "ann" | "ben") => Promise<{ readonly text: string }>>> = {
  "a list": (ask, user) => ask(user, "GET", "/api/notes"),
  "a filter": (ask, user) => ask(user, "GET", "/api/notes?text_like=red"),
  "an export": (ask, user) => ask(user, "GET", "/api/notes/export?format=json"),
  "a handler's driver": (ask, user) => ask(user, "GET", "/api/notes/texts"),
  GraphQL: (ask, user) => ask(user, "POST", "/graphql", { query: "{ notes { text } }" }),
  MCP: (ask, user) => ask(user, "POST", "/mcp", rpc("tools/call", { name: "list_note", arguments: {} })),
};

describe("a stamp and a listener to changes", () => {
  it.each(Object.entries(WRITES))("apply to %s", async (_, write) => {
    const app = await boot("crud");
    await write(app.ask, app);
    expect(await app.stored()).toEqual([expect.stringMatching(/^(?:new|by a handler): red$/)]);
    expect(app.heard).toEqual([expect.stringMatching(/^create /)]);
  });

  it("apply to JSON:API in place of crud", async () => {
    const { ask, heard, stored } = await boot("json-api");
    const sent = { data: { type: "note", attributes: { text: "new" } } };
    await ask("ann", "POST", "/api/notes", sent, "application/vnd.api+json");
    expect([await stored(), heard]).toEqual([["new: red"], ["create new"]]);
  });
});

describe("a restriction", () => {
  it.each(Object.entries(READS))("applies to %s", async (_, read) => {
    const { ask } = await boot("crud");
    await ask("ann", "POST", "/api/notes", { text: "of the red ones" });
    expect((await read(ask, "ann")).text).toContain("of the red ones");
    expect((await read(ask, "ben")).text).not.toContain("of the red ones");
  });

  it("applies to counts, single records, bulk changes, clones and deletions", async () => {
    const { api, ask, stored } = await boot("crud");
    const { id } = JSON.parse((await ask("ann", "POST", "/api/notes", { text: "one" })).text);
    expect(await api.as(blue).note.count()).toBe(0);
    expect(JSON.parse((await ask("ben", "GET", "/api/notes/count")).text)).toEqual({ count: 0 });
    await ask("ben", "PUT", "/api/notes/bulk-update", { ids: [id], data: { text: "taken" } });
    await ask("ben", "POST", "/api/notes/bulk-update", { ids: [id], data: { text: "taken" } });
    const others = [
      await ask("ben", "GET", `/api/notes/${id}`),
      await ask("ben", "POST", `/api/notes/${id}/clone`),
      await ask("ben", "DELETE", `/api/notes/${id}`),
    ];
    expect(others.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(await stored()).toEqual(["one: red"]);
  });

  it("applies to JSON:API in place of crud", async () => {
    const { api, ask } = await boot("json-api");
    const { id } = await api.as(red).note.create({ text: "one" });
    expect((await ask("ann", "GET", "/api/notes")).text).toContain("one");
    expect((await ask("ben", "GET", "/api/notes")).text).not.toContain("one");
    expect((await ask("ben", "GET", `/api/notes/${id}`)).status).toBe(404);
  });
});
