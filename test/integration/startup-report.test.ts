import { describe, expect, it } from "vitest";
import type { PluginList } from "../../src/gate/index.ts";
import {
  belongsTo,
  ConfigurationError,
  createPlugin,
  endpoint,
  entity,
  health,
  keelson,
  memoryDriver,
  noopLogger,
  string,
} from "../../src/index.ts";

function problemsOf(config: Partial<Parameters<typeof keelson>[0]>): readonly string[] {
  try {
    keelson({ entities: [], driver: memoryDriver(), logger: noopLogger, ...config });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as ConfigurationError).problems;
  }
  return [];
}

describe("the start-up report", () => {
  it("lists every problem at once", () => {
    const other = entity("other", {});
    const broken = entity("broken", {
      title: string,
      secret: string.encrypted(),
      pin: string.password({ cost: 15 }),
      owner: belongsTo(() => other),
    }).rules({ read: ["everione"], update: ["owner"] });
    const typo = entity("typo", { _x: string, id: string });
    const plugin = createPlugin({
      id: "odd",
      requires: ["crut"],
      endpoints: { a: endpoint("/health/live", { handler: () => 1 }) },
    });
    const problems = problemsOf({ entities: [broken, typo], plugins: [plugin] });
    expect(problems.join("\n")).toContain('"odd" requires "crut", which is not in the list. Did you mean "crud"?');
    expect(problems.join("\n")).toContain('"other" is not part of this app');
    expect(problems.join("\n")).toContain("broken.secret: .encrypted() needs a key");
    expect(problems.join("\n")).toContain("broken.pin: .password({ cost }) takes a whole number from 1 to 14");
    expect(problems.join("\n")).toMatch(/everione.*Did you mean "everyone"/);
    expect(problems.join("\n")).toMatch(/broken.*owner.*ownedBy/);
    expect(problems.join("\n")).toMatch(/typo\._x/);
    expect(problems.join("\n")).toMatch(/"id" is a reserved name/);
    expect(problems.join("\n")).toMatch(/GET \/health\/live .*collides.*"health"/);
  });

  it.each([
    ["password", entity("x", { f: string.password() })],
    ["omit", entity("x", { f: string.omit() })],
    ["encrypted", entity("x", { f: string.encrypted() })],
    ["field-rules", entity("x", { f: string.readable("admin") })],
    ["field-rules", entity("x", { f: string.writable("admin") })],
    ["versioned", entity("x", {}).versioned()],
    ["actions", entity("x", {}).actions({ a: { handler: () => 1 } })],
  ])("refuses %s if no plugin provides it, so that nothing is stored in clear", (feature, definition) => {
    const plugins = (defaults: PluginList) => defaults.without("field-security").without("versions").without("actions");
    expect(problemsOf({ entities: [definition], plugins })).toEqual([expect.stringContaining(`provides "${feature}"`)]);
  });

  it("names both owners of a duplicate name", () => {
    expect(problemsOf({ entities: [entity("a", {}), entity("a", {})] })).toEqual(['entity "a" is defined twice']);
    const people = [entity("person", {}), entity("human", {}).plural("people")];
    expect(problemsOf({ entities: people })).toEqual([
      expect.stringContaining('entities "person" and "human" share the path /people'),
    ]);
    expect(problemsOf({ plugins: [health()] })).toEqual(['Plugin "health" is in the list twice']);
  });

  it("names a route that no request could match", () => {
    const handler = (): number => 1;
    const odd = createPlugin({
      id: "odd",
      setup: ({ routes }) =>
        routes.add({ method: "GET", path: "things", action: "things", rules: ["everyone"], handler }),
    });
    expect(problemsOf({ plugins: [odd] })).toEqual([
      'route GET things of plugin "odd": not a method and a path such as /things/:id, /files/:path+ or /things/:id:archive',
    ]);
  });

  it("names plugins that require each other in a circle", () => {
    const a = createPlugin({ id: "a", requires: ["b"] });
    const b = createPlugin({ id: "b", requires: ["a"] });
    expect(problemsOf({ plugins: [a, b] })).toEqual(["Plugins wait for each other in a circular way: a -> b -> a"]);
  });

  it("says what to do about a factory that was not called, and about other objects", () => {
    expect(problemsOf({ plugins: [health as never] })).toEqual([
      "The plugin list contains a function (health); call it: health()",
    ]);
    expect(problemsOf({ plugins: [{ id: "x" } as never] })).toEqual([
      expect.stringContaining("createPlugin did not make"),
    ]);
  });

  it("refuses a prefix that is not a path", () => {
    expect(problemsOf({ apiPrefix: "api v1" })).toEqual(['apiPrefix "api v1" must be a path such as /api']);
  });

  it.each<[string, unknown, string]>([
    ["nothing", undefined, "keelson() takes an object"],
    ["no entities", {}, "`entities` must be an array"],
    ["entities by name", { entities: { note: 1 } }, "`entities` must be an array"],
    ["an import that came too early", { entities: [undefined] }, "entities[0] is undefined"],
    ["a name for an entity", { entities: ["note"] }, "entities[0] is not an entity"],
    ["a driver nobody called", { entities: [], driver: memoryDriver }, "call it: memoryDriver()"],
    ["a connection string for a driver", { entities: [], driver: "postgres://x" }, "use postgres(url)"],
    ["half a driver", { entities: [], driver: {} }, "`driver` is not a driver"],
    ["a getUser that is none", { entities: [], getUser: "x" }, "`getUser` must be a function"],
    ["limits that are none", { entities: [], limits: null }, "`limits` must be an object"],
    ["a prefix that is none", { entities: [], apiPrefix: 5 }, "`apiPrefix` must be a string"],
    ["plugins that are none", { entities: [], plugins: {} }, "`plugins` must be an array"],
    ["rules that are none", { entities: [], rules: {} }, "`rules` must be an array"],
    ["a misspelt option", { entities: [], getuser: () => null }, 'no option "getuser". Did you mean "getUser"?'],
  ])("is clear about %s", (_what, config, message) => {
    expect(() => keelson(config as never)).toThrow(ConfigurationError);
    expect(() => keelson(config as never)).toThrow(message);
  });

  it("is empty for a valid app", () => {
    expect(problemsOf({ entities: [entity("a", { t: string })], apiPrefix: "/v1/" })).toEqual([]);
  });
});
