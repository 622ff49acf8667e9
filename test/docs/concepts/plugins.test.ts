import * as keelson from "keelson";
import type { HookMap, Operation, PluginContext, PluginOptions } from "keelson/plugin";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { request, startApp } from "../../support/http.ts";
import { openPage, type Page } from "../../support/page.ts";
import { hookNames, pluginContext, pluginOptions } from "./members-of.ts";
import { tableBelow } from "./table-below.ts";

const { createPlugin, defaultPlugins, endpoint, entity, memoryDriver, noopLogger, string } = keelson;
const note = entity("note", { text: string }).rules({
  read: ["everyone"],
  create: ["everyone"],
  update: ["everyone"],
  delete: ["everyone"],
});

let page: Page;
beforeAll(() => {
  page = openPage("concepts/plugins");
});
afterAll(() => page.remove());

/** An app with one entity and these plugins in addition to the defaults. */
const appWith = (plugins: keelson.KeelsonConfig["plugins"], config = {}) =>
  keelson.keelson({
    entities: [note],
    driver: memoryDriver(),
    logger: noopLogger,
    plugins: plugins as never,
    ...config,
  });

/** First cells of the table that begins with a line. */
function namesBelow(marker: string): string[] {
  const rest = page.text.slice(page.text.indexOf(marker));
  const rows = rest.slice(rest.indexOf("\n|")).split("\n").slice(3);
  const names = rows.slice(0, rows.indexOf("")).map((row) => /^\| `(\w+)`/.exec(row)?.[1]);
  return names.filter((name) => name !== undefined);
}

describe("docs/concepts/plugins.md: the tables", () => {
  it("list every option of a plugin and all of its context", () => {
    expect(namesBelow("`createPlugin(options)` makes one").sort()).toEqual(pluginOptions().sort());
    expect(namesBelow("`setup`, `start` and `stop` are given").sort()).toEqual(pluginContext().sort());
  });

  it("list the default plugins in order, with what they require and provide", () => {
    const rows = tableBelow(page.text, "The default plugins").map(([id, , requires, provides]) => [
      id?.replaceAll("`", ""),
      requires,
      provides,
    ]);
    const plugins = [...defaultPlugins()].map((plugin) => [
      plugin.id,
      plugin.requires.join(", "),
      plugin.provides.join(", "),
    ]);
    expect(rows).toEqual(plugins);
  });

  it("list existing services", async () => {
    const person = entity("person", { password: string.password() });
    const app = appWith([], { entities: [person] });
    for (const [id] of tableBelow(page.text, "Endpoints and services"))
      expect(app.hasService((id as string).replaceAll("`", "")), id).toBe(true);
    await app.close();
  });

  it("list the hooks of each operation in order", async () => {
    const names = hookNames().filter((name) => name.startsWith("operation:")) as (keyof HookMap)[];
    const seen: Record<string, string[]> = {};
    const spy = createPlugin({
      id: "spy",
      hooks: Object.fromEntries(
        names.map((name) => [name, ({ kind }: Operation) => void (seen[kind] ??= []).push(name.slice(10))]),
      ),
    });
    const app = appWith([spy]);
    const client = app.as({ id: "ann" }).note;
    const seenBy = async (kind: string, work: () => Promise<unknown>) => {
      for (const key of Object.keys(seen)) delete seen[key];
      await work();
      return seen[kind];
    };
    const { id } = await client.create({ text: "x" });
    const order = /^```text\n([\s\S]*?)\n```/m.exec(page.text)?.[1]?.split(" ") as string[];
    expect([...order].sort()).toEqual(names.map((name) => name.slice(10)).sort());
    const without = (...left: string[]) => order.filter((name) => !left.includes(name));
    const reading = without("plan", "normalize", "validate", "protect", "committed");
    expect(await seenBy("create", () => client.create({ text: "y" }))).toEqual(without("narrow", "plan"));
    expect(await seenBy("list", () => client.list())).toEqual(without("normalize", "validate", "protect", "committed"));
    expect(await seenBy("count", () => client.count())).toEqual(reading);
    expect(await seenBy("read", () => client.get(id))).toEqual(reading);
    expect(await seenBy("update", () => client.update(id, { text: "z" }))).toEqual(without("plan"));
    expect(await seenBy("delete", () => client.delete(id))).toEqual(
      without("plan", "normalize", "validate", "protect"),
    );
    await app.close();
  });
});

describe("docs/concepts/plugins.md: the audit plugin", () => {
  it("records writes, except those of excluded entities", async () => {
    const { api } = await page.load<{ api: keelson.Keelson }>("audit.ts");
    const host = await startApp(api);
    const call = (method: string, path: string, token: string, body?: unknown) =>
      request(host.url, method, path, { token, body });
    await call("POST", "/api/notes", "ann", { text: "x" });
    await call("POST", "/api/drafts", "ann", { text: "x" });
    await vi.waitFor(async () => expect((await call("GET", "/audit/count", "root")).json).toEqual({ count: 1 }));
    const entries = await call("GET", "/api/audit-entries", "root");
    expect(entries.json).toMatchObject([{ what: "create note", who: "ann" }]);
    expect((await call("GET", "/audit/count", "ann")).status).toBe(403);
    await host.close();
  });
});

describe("docs/concepts/plugins.md: lists", () => {
  const mine = createPlugin({ id: "mine" });

  it("are composed as in the table", () => {
    const defaults = defaultPlugins();
    expect(defaults.with(mine).ids).toEqual([...defaults.ids, "mine"]);
    expect(defaults.without("openapi").ids).not.toContain("openapi");
    expect(defaults.replace("health", mine).ids.at(-1)).toBe("mine");
    expect(() => defaults.without("helth")).toThrow(keelson.ConfigurationError);
    expect(() => defaults.replace("helth", mine)).toThrow(keelson.ConfigurationError);
    expect(defaults.ids).toContain("health");
  });

  it("set up, start and stop plugins in order, each after its requirements", async () => {
    const told: string[] = [];
    const telling = (id: string, requires: readonly string[] = []) =>
      createPlugin({
        id,
        requires,
        setup: () => void told.push(`setup ${id}`),
        start: () => void told.push(`start ${id}`),
        stop: () => void told.push(`stop ${id}`),
      });
    const app = appWith([telling("one", ["two"]), telling("two")]);
    await app.ready;
    await app.close();
    expect(told).toEqual(["setup two", "setup one", "start two", "start one", "stop one", "stop two"]);
  });

  it("stop the start when a definition needs a capability that no plugin provides", () => {
    const secret = entity("secret", { text: string.omit() });
    const without = (id: string) => () =>
      appWith((list: keelson.PluginList) => list.without(id), { entities: [secret] });
    expect(without("field-security")).toThrow(/no plugin in the list provides "omit"/);
    const acting = note.actions({
      look: keelson
        .action()
        .get()
        .handler(() => 1),
    });
    const start = () => appWith((list: keelson.PluginList) => list.without("actions"), { entities: [acting] });
    expect(start).toThrow(/provides "actions"/);
  });
});

describe("docs/concepts/plugins.md: a plugin's mistake", () => {
  const route = { look: endpoint("/look", { rules: ["everyone"], handler: () => 1 }) };

  it("stops the start, and is named", () => {
    const refused = (...plugins: readonly PluginOptions[]) => expect(() => appWith(plugins.map(createPlugin)));
    refused({ id: "rules" }).toThrow(/"rules" is in the list twice/);
    refused({ id: "a", services: { s: () => 1 } }, { id: "b", services: { s: () => 1 } }).toThrow(/"s" is registered/);
    refused({ id: "a", endpoints: route }, { id: "b", endpoints: route }).toThrow(/"b" collides .* "a"/);
    refused({ id: "a", schema: keelson.schemaFromEntities([note]) }).toThrow(/"note" is defined twice/);
    refused({ id: "a", requires: ["none"] }).toThrow(/requires "none"/);
    refused({ id: "a", requires: ["b"] }, { id: "b", requires: ["a"] }).toThrow(/circular/);
    refused({ id: "a", getUser: () => null }, { id: "b", getUser: () => null }).toThrow(/only one of them/);
    const problem = { id: "a", setup: (context: PluginContext) => context.problem("No mast.") };
    const broken = () => {
      throw new TypeError("no");
    };
    refused(problem, { id: "b", setup: broken }).toThrow(/2 problems[\s\S]*No mast[\s\S]*"b" failed in setup/);
  });

  it("causes an error response or a log line when it happens later", async () => {
    const lines: string[] = [];
    const log = (line: string) => void lines.push(line);
    const logger = { debug: log, info: log, warn: log, error: log };
    const broken = () => {
      throw new TypeError("secret text");
    };
    const plugin = (id: string, options: Partial<PluginOptions>) => createPlugin({ id, ...options });
    const app = appWith(
      [
        plugin("late", { hooks: { "operation:committed": broken }, stop: broken }),
        plugin("slow", {
          hooks: { "operation:narrow": ({ kind }) => (kind === "delete" ? new Promise(() => {}) : undefined) },
        }),
        plugin("open", {
          endpoints: {
            none: endpoint("/none", { handler: () => 1 }),
            boom: endpoint("/boom", { rules: ["everyone"], handler: broken }),
          },
        }),
      ],
      { logger, limits: { hookMs: 100 } },
    );
    const host = await startApp(app);
    const made = await request(host.url, "POST", "/api/notes", { body: { text: "x" } });
    expect(made.status).toBe(201);
    expect(lines).toContain("A hook failed after the commit");
    expect((await request(host.url, "DELETE", `/api/notes/${made.json.id}`)).status).toBe(503);
    expect((await request(host.url, "GET", "/none")).status).toBe(401);
    const boom = await request(host.url, "GET", "/boom");
    expect([boom.status, JSON.stringify(boom.json).includes("secret text")]).toEqual([500, false]);
    await host.close();
    expect(lines).toContain('Stopping failed: plugin "late"');
  });

  it("causes a denial when no plugin decides", async () => {
    const bare = entity("bare", { text: string });
    const app = keelson.keelson({ entities: [bare], driver: memoryDriver(), logger: noopLogger, plugins: () => [] });
    await app.ready;
    await expect(app.as({ id: "ann", role: "admin" }).bare.list()).rejects.toMatchObject({ status: 403 });
    await expect(app.asSystem().bare.list()).resolves.toMatchObject({ data: [] });
    await app.close();
  });
});
