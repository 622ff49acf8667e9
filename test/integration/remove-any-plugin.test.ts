import { describe, expect, it } from "vitest";
import {
  ConfigurationError,
  countAction,
  defaultPlugins,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  string,
} from "../../src/index.ts";

const note = entity("note", { text: string }).rules({ read: ["everyone"], create: ["everyone"] });

/** An app without one default plugin: it reports what needs the plugin, or works without it. */
const WITHOUT: Readonly<Record<string, string | "works">> = {
  rules: 'requires "rules"',
  "field-security": "works",
  validation: 'requires "validation"',
  versions: "works",
  search: "works",
  query: 'requires "query"',
  relations: 'requires "relations"',
  batch: "works",
  crud: "works",
  actions: "works",
  workflows: "works",
  "remote-joins": "works",
  schema: "works",
  openapi: "works",
  health: "works",
};

describe("an app without one default plugin", () => {
  it("is described for each of them", () => {
    expect(Object.keys(WITHOUT).sort()).toEqual([...defaultPlugins().ids].sort());
  });

  it.each(Object.entries(WITHOUT))("without %s: %s", async (id, expected) => {
    const boot = () =>
      keelson({
        entities: [note],
        driver: memoryDriver(),
        logger: noopLogger,
        plugins: (defaults) => defaults.without(id),
      });
    if (expected !== "works") {
      expect(boot).toThrow(ConfigurationError);
      expect(boot).toThrow(expected);
      return;
    }
    const api = boot();
    await api.ready;
    const get = (url: string) => api.fetch(new Request(`http://host.invalid${url}`));
    expect((await get("/api/notes")).status).toBe(id === "crud" ? 404 : 200);
    expect((await get("/health/ready")).status).toBe(id === "health" ? 404 : 200);
    await api.asSystem().note.create({ text: "kept" });
    expect((await api.as({ id: "u1" }).note.list()).data.map(({ text }) => text)).toEqual(["kept"]);
    await api.close();
  });

  it("has no action that reads a list's filters without the plugin that parses them", async () => {
    const api = keelson({
      entities: [entity("note", { text: string }).actions({ count: countAction })],
      driver: memoryDriver(),
      logger: noopLogger,
      plugins: (defaults) => defaults.without("crud").without("query"),
    });
    await expect(api.ready).rejects.toThrow('action "count" of note needs the service "query"');
    await api.close();
  });

  it("cannot lose the rules plugin, even without rules in its definitions", () => {
    const bare = entity("bare", { text: string });
    const boot = () =>
      keelson({ entities: [bare], driver: memoryDriver(), plugins: (defaults) => defaults.without("rules") });
    expect(boot).toThrow('Plugin "crud" requires "rules"');
  });
});
