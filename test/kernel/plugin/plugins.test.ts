import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { belongsTo, ConfigurationError, entity, string } from "../../../src/entity/index.ts";
import {
  createApp,
  createPlugin,
  createPluginFactory,
  endpoint,
  type Plugin,
  PluginList,
  schemaFromEntities,
} from "../../../src/gate/index.ts";
import { detectPluginType, isValidPlugin, noopLogger } from "../../../src/kernel/index.ts";

describe("createPlugin", () => {
  it.each(["", "Audit", "a_b", "a//b", "a/b/c", "-a", "a b"])("refuses the id %j", (id) => {
    expect(() => createPlugin({ id })).toThrow("must be kebab-case");
  });

  it.each(["audit", "rate-limit", "acme/audit-log"])("accepts the id %j", (id) => {
    expect(createPlugin({ id })).toMatchObject({ id, version: "0.0.0", requires: [], provides: [] });
  });

  it("returns frozen plugins, which cannot change after they were checked", () => {
    expect(Object.isFrozen(createPlugin({ id: "a" }))).toBe(true);
  });
});

describe("createPluginFactory", () => {
  const audit = createPluginFactory<{ readonly table: string }>(({ table = "log" }) => ({
    id: "audit",
    endpoints: { where: endpoint("/where", { handler: () => table }) },
  }));

  it("turns options into plugins, with and without options", () => {
    expect(audit().id).toBe("audit");
    expect(audit({ table: "trail" }).endpoints?.where?.handler({} as never, undefined)).toBe("trail");
    expect(audit().endpoints?.where?.handler({} as never, undefined)).toBe("log");
  });

  it("is distinguished from its plugins and from other objects", () => {
    expect(detectPluginType(audit)).toBe("factory");
    expect(detectPluginType(audit())).toBe("plugin");
    for (const stranger of [() => 1, {}, null, "audit", { id: "x" }])
      expect(detectPluginType(stranger)).toBe("unknown");
    expect(isValidPlugin(audit())).toBe(true);
    expect(isValidPlugin({ ...audit() })).toBe(true);
    expect(isValidPlugin({ id: 5, version: "1", requires: [], provides: [] })).toBe(false);
  });
});

describe("PluginList", () => {
  const [a, b, c] = ["a", "b", "c"].map((id) => createPlugin({ id })) as [never, never, never];
  const list = new PluginList([a, b]);

  it("adds, removes and replaces by id, and does not change the original list", () => {
    expect(list.with(c).ids).toEqual(["a", "b", "c"]);
    expect(list.without("a").ids).toEqual(["b"]);
    expect(list.replace("a", c).ids).toEqual(["c", "b"]);
    expect([...list].map(({ id }) => id)).toEqual(["a", "b"]);
  });

  it("lists the existing ids when an id is unknown", () => {
    expect(() => list.without("x")).toThrow('There is no plugin "x" in the list (a, b)');
    expect(() => list.replace("x", c)).toThrow(ConfigurationError);
  });
});

describe("entities of plugins", () => {
  const trail = entity("trail", { text: string });
  const app = entity("app", { trail: belongsTo(() => trail).optional() });

  it("become part of the app, with relations to and from its own", async () => {
    const schema = schemaFromEntities([trail], { internal: true });
    expect(schema.entities.trail).toMatchObject({ internal: true, relations: {}, actions: {} });
    expect(Object.keys(schema.entities.trail?.fields ?? {})).toEqual(["text"]);
    const kernel = createApp({
      entities: [app],
      driver: memoryDriver(),
      plugins: [createPlugin({ id: "trails", schema })],
      logger: noopLogger,
    });
    expect(kernel.model.get("trail")?.internal).toBe(true);
    expect(kernel.model.relation(kernel.model.get("app") as never, "trail")?.target.name).toBe("trail");
    await kernel.close();
  });

  it("collide by name with the app's own", () => {
    const plugin = createPlugin({ id: "trails", schema: schemaFromEntities([entity("app", {})]) });
    const boot = () =>
      createApp({ entities: [entity("app", {})], driver: memoryDriver(), plugins: [plugin], logger: noopLogger });
    expect(boot).toThrow('entity "app" is defined twice');
  });

  it("count only if schemaFromEntities created them", async () => {
    const plugin = createPlugin({ id: "odd", schema: { entities: {} } });
    const kernel = createApp({ entities: [], driver: memoryDriver(), plugins: [plugin], logger: noopLogger });
    expect(kernel.model.entities).toEqual([]);
    await kernel.close();
  });
});

describe("a plugin whose setup fails with an error other than a configuration error", () => {
  const bug = new TypeError("a bug");
  const failing = (id: string, thrown: unknown) =>
    createPlugin({
      id,
      setup: () => {
        throw thrown;
      },
    });

  it("is reported with all other problems, and the error is their cause", () => {
    const plugins = [failing("broken", bug), failing("odd", 5), failing("wrong", new ConfigurationError("no key"))];
    let error: unknown;
    try {
      createApp({ entities: [], driver: memoryDriver(), plugins, logger: noopLogger });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).problems).toEqual([
      'plugin "broken" failed in setup: TypeError: a bug',
      'plugin "odd" failed in setup: number',
      "no key",
    ]);
    expect((error as ConfigurationError).cause).toBe(bug);
  });

  it("recognises configuration errors of another copy of the package by their brand", () => {
    const foreign = Object.assign(new Error("x"), { code: "CONFIGURATION_ERROR", problems: ["theirs"] });
    Object.defineProperty(foreign, Symbol.for("keelson.error"), { value: true });
    const boot = (entities: readonly never[], plugins: readonly Plugin[]) => () =>
      createApp({ entities, driver: memoryDriver(), plugins, logger: noopLogger });
    expect(boot([], [failing("copy", foreign)])).toThrow(/^theirs$/);
    const build = () => {
      throw foreign;
    };
    expect(boot([{ name: "copy", build } as never], [])).toThrow(/^theirs$/);
  });
});

describe("an entity whose build fails with an error other than a configuration error", () => {
  it("stops the start with the error itself, which no report hides", () => {
    const broken = {
      build: () => {
        throw new TypeError("a bug");
      },
    };
    const boot = () => createApp({ entities: [broken], driver: memoryDriver(), plugins: [], logger: noopLogger });
    expect(boot).toThrow(TypeError);
  });
});
