import { defaultPlugins, entity, keelson, memoryDriver, noopLogger, string } from "keelson";
import { createPlugin, endpoint, FieldChecks, type Plugin, QueryParser, routeSegment } from "keelson/plugin";
import { describe, expect, it, onTestFinished } from "vitest";
import { request, startApp } from "../support/http.ts";

const all = ["everyone"];
const note = entity("note", { text: string }).timestamps(false).rules({ read: all, create: all });

/** A minimal replacement for each default plugin, written with the public API. */
const MINIMAL: Readonly<Record<string, () => Plugin>> = {
  rules: () =>
    createPlugin({
      id: "mine/rules",
      provides: ["rules"],
      setup({ records, hooks }) {
        records.policy({ name: "mine/rules", allows: ({ decision }) => void (decision.allowed = true) });
        hooks.on("route:authorize", (asked) => void (asked.allowed = true));
      },
    }),
  "field-security": () =>
    createPlugin({ id: "mine/fields", provides: ["password", "omit", "encrypted", "field-rules"] }),
  validation: () =>
    createPlugin({
      id: "mine/validation",
      provides: ["validation"],
      setup({ hooks, provide }) {
        hooks.on("operation:normalize", (operation) => {
          const { writable } = operation.scope.access.mask(operation.entity);
          operation.data = Object.fromEntries(Object.entries(operation.data).filter(([name]) => writable.has(name)));
        });
        provide(FieldChecks, () => ({
          compile: () => ({ fromObject: (value) => value as never, fromQuery: () => ({}) }),
        }));
      },
    }),
  versions: () => createPlugin({ id: "mine/versions", provides: ["versioned"] }),
  search: () => createPlugin({ id: "mine/search", provides: ["search"] }),
  query: () =>
    createPlugin({
      id: "mine/query",
      provides: ["query"],
      setup: ({ provide }) =>
        provide(QueryParser, () => ({
          reads: () => async () => ({ limit: 10 }),
          describe: async () => [],
          includes: async () => [],
        })),
    }),
  relations: () => createPlugin({ id: "mine/relations", provides: ["relations"] }),
  batch: () =>
    createPlugin({
      id: "mine/batch",
      endpoints: { batch: endpoint("/mine/batch", { method: "POST", rules: all, handler: () => [] }) },
    }),
  crud: () =>
    createPlugin({
      id: "mine/crud",
      provides: ["crud"],
      setup({ routes, entities }) {
        for (const one of entities.entities.filter(({ internal }) => !internal)) {
          const shared = { path: `/${routeSegment(one)}`, entity: one };
          routes.add({
            ...shared,
            method: "GET",
            action: "list",
            access: "read",
            handler: async ({ scope }) => (await scope.run({ kind: "list", entity: one })).records,
          });
          routes.add({
            ...shared,
            method: "POST",
            action: "create",
            access: "create",
            handler: async ({ scope, body }) =>
              (await scope.run({ kind: "create", entity: one, data: async () => (await body()) as never })).records[0],
          });
        }
      },
    }),
  actions: () => createPlugin({ id: "mine/actions", provides: ["actions", "soft-delete"] }),
  workflows: () => createPlugin({ id: "mine/workflows", provides: ["workflows"] }),
  "remote-joins": () => createPlugin({ id: "mine/remote-joins", provides: ["remote-relations"] }),
  schema: () => createPlugin({ id: "mine/schema" }),
  openapi: () =>
    createPlugin({
      id: "mine/openapi",
      endpoints: { document: endpoint("/openapi.json", { rules: all, handler: () => ({ openapi: "3.1.0" }) }) },
    }),
  health: () =>
    createPlugin({
      id: "mine/health",
      endpoints: { ready: endpoint("/health/ready", { rules: all, handler: () => ({ status: "ok" }) }) },
    }),
};

describe("an app with a minimal plugin in place of a default one", () => {
  it("is tested for each of them", () => {
    expect(Object.keys(MINIMAL).sort()).toEqual([...defaultPlugins().ids].sort());
  });

  it.each(Object.entries(MINIMAL))("works without %s, with another in its place", async (id, minimal) => {
    const driver = memoryDriver();
    const api = keelson({
      entities: [note],
      driver,
      logger: noopLogger,
      plugins: (defaults) => defaults.replace(id, minimal()),
    });
    const { url, close } = await startApp(api);
    onTestFinished(close);
    const created = await request(url, "POST", "/api/notes", { body: { text: "kept" } });
    expect([200, 201]).toContain(created.status);
    expect((await request(url, "GET", "/api/notes")).json).toMatchObject([{ text: "kept" }]);
    expect((await request(url, "GET", "/health/ready")).status).toBe(200);
    expect(await driver.count("note")).toBe(1);
  });
});
