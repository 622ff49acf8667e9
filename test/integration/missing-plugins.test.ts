import { defaultPlugins, type EntityLike, entity, keelson, memoryDriver, type PluginList, string } from "keelson";
import { createPlugin, endpoint, type Plugin, type Row } from "keelson/plugin";
import { recordingLogger } from "keelson/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { request, startApp } from "../support/http.ts";

const all = ["everyone"];
const open = { read: all, create: all, update: all, delete: all };
const note = entity("note", { text: string.max(5), by: string.default("nobody").readonly() }).rules(open);

/** A caller's writes, through routes that need no other plugin. */
const writes = createPlugin({
  id: "acme/writes",
  endpoints: {
    create: endpoint("/create", {
      method: "POST",
      rules: all,
      handler: async ({ scope, body }) =>
        (await scope.run({ kind: "create", entity: "note", data: (await body()) as Row })).records[0],
    }),
    update: endpoint("/update/:id", {
      method: "POST",
      rules: all,
      handler: async ({ scope, params, body }) =>
        (await scope.run({ kind: "update", entity: "note", id: params.id, data: (await body()) as Row })).records[0],
    }),
    set: endpoint("/set/:id", {
      method: "POST",
      rules: all,
      handler: async ({ scope, params }) =>
        (await scope.run({ kind: "update", entity: "note", id: params.id, set: { by: "code" } })).records[0],
    }),
    list: endpoint("/list", {
      rules: all,
      handler: async ({ scope }) => (await scope.run({ kind: "list", entity: note })).records,
    }),
  },
  // A plugin that replaces rules has to do this for endpoints.
  hooks: { "route:authorize": (asked) => void (asked.allowed = true) },
});

async function boot(choose: (defaults: PluginList) => Iterable<Plugin>, of: EntityLike = note) {
  const log = recordingLogger();
  const driver = memoryDriver({
    note: [{ id: "n1", text: "one", by: "ann", createdAt: new Date(), updatedAt: new Date() }],
  });
  const api = keelson({ entities: [of as typeof note], driver, logger: log, plugins: choose });
  const { url, close } = await startApp(api);
  onTestFinished(close);
  const send = async (method: string, path: string, body?: unknown): Promise<number> =>
    (await request(url, method, path, body === undefined ? {} : { body })).status;
  const stored = async () => (await driver.findMany("note")).map(({ text, by }) => `${text} by ${by}`);
  return { api, log, send, stored };
}

/** The defaults without one plugin, and without those that require it. */
const without =
  (...ids: readonly string[]) =>
  (defaults: PluginList): PluginList =>
    ids.reduce((list, id) => list.without(id), defaults).with(writes);
const NEEDS_VALIDATION = ["crud", "actions", "validation"];

describe("an app without a plugin that validates", () => {
  it("stores nothing for callers, with any input", async () => {
    const { send, stored, log } = await boot(without(...NEEDS_VALIDATION));
    for (const [path, body] of [
      ["/create", { text: "two" }],
      ["/create", { text: "far too long", by: "eve", id: "mine", nothing: 1 }],
      ["/update/n1", { by: "eve" }],
      ["/set/n1", {}],
    ] as const)
      expect([path, await send("POST", path, body)]).toEqual([path, 500]);
    expect(await stored()).toEqual(["one by ann"]);
    expect(await send("GET", "/list")).toBe(200);
    expect(log.lines.join("\n")).toContain("CONFIGURATION_ERROR");
  });

  it("still stores what the app's code writes as the system", async () => {
    const { api, stored } = await boot(without(...NEEDS_VALIDATION));
    await api.asSystem().note.create({ text: "two", by: "code" });
    await expect(api.as({ id: "ann" }).note.create({ text: "three" })).rejects.toThrow("validation");
    expect((await stored()).sort()).toEqual(["one by ann", "two by code"]);
  });

  it("stores again with another plugin that provides validation", async () => {
    const mine = createPlugin({ id: "acme/checks", provides: ["validation"] });
    const { send, stored } = await boot((defaults) => without(...NEEDS_VALIDATION)(defaults).with(mine));
    expect(await send("POST", "/update/n1", { text: "two" })).toBe(200);
    expect(await stored()).toEqual(["two by ann"]);
  });

  it("does not start if that plugin adds its function too late", async () => {
    const late = createPlugin({
      id: "acme/late",
      provides: ["validation"],
      start({ hooks }) {
        hooks.on("operation:validate", () => {});
      },
    });
    const driver = memoryDriver();
    const plugins = (defaults: PluginList) => without(...NEEDS_VALIDATION)(defaults).with(late);
    const api = keelson({ entities: [note], driver, logger: recordingLogger(), plugins });
    await expect(api.ready).rejects.toThrow('Plugin "acme/late" called hooks.on("operation:validate") after setup');
    const body = JSON.stringify({ text: "two" });
    const headers = { "content-type": "application/json" };
    expect((await api.fetch(new Request("http://x.invalid/create", { method: "POST", body, headers }))).status).toBe(
      500,
    );
    expect(await driver.count("note")).toBe(0);
    await api.close();
  });
});

describe("an app without a plugin that decides", () => {
  it("denies callers everything", async () => {
    const plugins = [...defaultPlugins()].filter(({ id }) => ["validation", "query", "relations"].includes(id));
    const { send, stored } = await boot(() => [...plugins, writes], entity("note", { text: string, by: string }));
    expect(await send("POST", "/create", { text: "two" })).toBe(401);
    expect(await send("POST", "/update/n1", { text: "two" })).toBe(401);
    expect(await send("GET", "/list")).toBe(401);
    expect(await stored()).toEqual(["one by ann"]);
  });

  it("does not start if definitions have rules", () => {
    const boot = () =>
      keelson({ entities: [note], driver: memoryDriver(), plugins: () => [writes], logger: recordingLogger() });
    expect(boot).toThrow('note.rules(), but no plugin in the list provides "rules"');
  });
});

describe("an app without a plugin that protects fields", () => {
  it.each([
    ["password", string.password()],
    ["omit", string.omit()],
    ["encrypted", string.encrypted()],
    ["field-rules", string.readable("admin").optional()],
    ["field-rules", string.writable("admin").optional()],
  ])("does not start with a field that needs %s", async (feature, field) => {
    const boot = () =>
      keelson({
        entities: [entity("user", { field }).rules(open)],
        driver: memoryDriver(),
        plugins: (defaults) => defaults.without("field-security"),
      });
    expect(boot).toThrow(`no plugin in the list provides "${feature}"`);
  });
});
