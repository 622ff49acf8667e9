import {
  action,
  ConfigurationError,
  createPlugin,
  endpoint,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  type Plugin,
  string,
} from "keelson";
import { audit } from "keelson/audit";
import { type PluginContext, type PluginOptions, token } from "keelson/plugin";
import { createFakeKernel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import type { HookFunction } from "../../../src/gate/index.ts";
import { LIST_FAULTS, PLUGIN_FAULTS } from "../../support/plugin-faults.ts";

const note = entity("note", { text: string, team: string.default("red") }).rules({ read: ["everyone"] });

/** Starts a real app with plugins after the default ones. */
async function startApp(plugins: readonly Plugin[]): Promise<void> {
  const api = keelson({ entities: [note], driver: memoryDriver(), logger: noopLogger, plugins });
  await api.ready.finally(() => api.close());
}

async function startFake(plugins: readonly Plugin[]): Promise<void> {
  const kernel = createFakeKernel().withEntities(note).withDriver(memoryDriver());
  for (const plugin of plugins) await kernel.use(plugin);
  await kernel.close();
}

async function problemsOf(starting: Promise<void>): Promise<string> {
  const error: unknown = await starting.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ConfigurationError);
  return (error as ConfigurationError).problems.join("\n");
}

const odd = (options: object): Plugin => createPlugin({ id: "acme/odd", ...options } as PluginOptions);
const Delivered = token<{ readonly id: string; readonly seen: string[] }>("acme:delivered");
const noop = (): void => {};

describe.each([
  ["a real app", startApp],
  ["the fake kernel", startFake],
] as const)("%s does not start", (_name, start) => {
  it.each<[string, object, string]>(PLUGIN_FAULTS)("with %s", async (_what, options, problem) => {
    expect(await problemsOf(start([odd(options)]))).toContain(`plugin "acme/odd": ${problem}`);
  });

  it.each<[string, (context: PluginContext) => unknown]>([
    ['hooks.on("operation:authorize")', ({ hooks }) => hooks.on("operation:authorize", noop)],
    ['hooks.define("acme:delivered")', ({ hooks }) => hooks.define(Delivered)],
    [
      "routes.add(GET /late)",
      ({ routes }) => routes.add({ method: "GET", path: "/late", action: "late", rules: [], handler: noop }),
    ],
    ['provide("late")', ({ provide }) => provide("late", noop)],
    ['problem("too late")', ({ problem }) => problem("too late")],
  ])("when a plugin calls %s in start, even if it catches the error", async (call, late) => {
    const sentence = `Plugin "acme/odd" called ${call} after setup, when it would have no effect; call it in setup()`;
    expect(await problemsOf(start([odd({ start: late })]))).toBe(sentence);
    const quiet = odd({
      start(context: PluginContext) {
        try {
          late(context);
        } catch {}
      },
    });
    expect(await problemsOf(start([quiet]))).toBe(sentence);
  });

  it.each(LIST_FAULTS)("with %s", async (_what, plugins, problem) => {
    expect(await problemsOf(start(plugins))).toContain(problem);
  });

  it("with every problem in one report", async () => {
    const problems = await problemsOf(
      start([
        odd({
          hooks: { "request:begin": noop, "request:end": 1 },
          endpoints: { a: { path: "/a" } },
          provide: [],
          setup: undefined,
        }),
      ]),
    );
    for (const part of ["request:begin", "request:end", "no handler", '"provide"']) expect(problems).toContain(part);
  });
});

describe("a context that is kept", () => {
  it("declares nothing once the app is set up", async () => {
    let kept: PluginContext | undefined;
    const api = keelson({
      entities: [note],
      driver: memoryDriver(),
      logger: noopLogger,
      plugins: [odd({ setup: (context: PluginContext) => void (kept = context) })],
    });
    await api.ready;
    expect(() => kept?.hooks.on("operation:authorize", noop)).toThrow(ConfigurationError);
    expect(() => kept?.provide("late", noop)).toThrow("after setup");
    await api.close();
  });
});

describe("a wrapDriver that returns a promise", () => {
  it("is refused", () => {
    const plugins = [odd({ wrapDriver: async (driver: unknown) => driver })];
    expect(() => keelson({ entities: [note], driver: memoryDriver(), plugins })).toThrow(
      'plugin "acme/odd": wrapDriver returned a promise',
    );
  });
});

describe("a wrapDriver that returns a copy of its driver", () => {
  it("is refused, because a copy has no methods", () => {
    const plugins = [odd({ wrapDriver: (driver: object) => ({ ...driver }) })];
    expect(() => keelson({ entities: [note], driver: memoryDriver(), plugins })).toThrow(
      /make one with withMiddleware/,
    );
  });
});

describe("a kernel without a driver", () => {
  it("serves plugins that do not need one, on the fake kernel", async () => {
    const endpoints = { greet: endpoint("/greet", { rules: ["everyone"], handler: () => ({ text: "Ahoy" }) }) };
    const kernel = await createFakeKernel().use(
      createPlugin({ id: "greeter", endpoints, wrapDriver: (inner) => inner }),
    );
    expect((await kernel.call("GET", "/greet")).body).toEqual({ text: "Ahoy" });
  });
});

describe("a plugin in place of a default one", () => {
  it("may provide the same capability", async () => {
    const mine = createPlugin({ id: "acme/versions", provides: ["versioned"] });
    const api = keelson({
      entities: [note],
      driver: memoryDriver(),
      logger: noopLogger,
      plugins: (defaults) => defaults.replace("versions", mine),
    });
    await api.ready;
    await api.close();
  });
});

describe("a hook that a plugin defines", () => {
  it("is run by its plugin, with the functions of plugins before and after it", async () => {
    const listen = (id: string): Plugin =>
      createPlugin({ id, setup: ({ hooks }) => hooks.on(Delivered, ({ seen }) => void seen.push(id)) });
    let run: (payload: { id: string; seen: string[] }) => unknown = noop;
    const owner = createPlugin({ id: "owner", setup: ({ hooks }) => void (run = hooks.define(Delivered)) });
    await startApp([listen("before"), owner, listen("after")]);
    const seen: string[] = [];
    await run({ id: "1", seen });
    expect(seen).toEqual(["before", "after"]);
  });

  it("stops the start if no plugin defines it, or its token is invalid", async () => {
    const problems = await problemsOf(
      startApp([
        createPlugin({ id: "one", setup: ({ hooks }) => hooks.on(token("acme:nothing"), noop) }),
        createPlugin({ id: "two", setup: ({ hooks }) => hooks.on(undefined as never, noop) }),
      ]),
    );
    expect(problems).toContain('plugin "one": there is no hook "acme:nothing"');
    expect(problems).toContain('plugin "two": hooks.on takes the name of a hook first');
  });

  it("has one owner, and a name that is not the kernel's", async () => {
    const define = (id: string, name: string): Plugin =>
      createPlugin({ id, setup: ({ hooks }) => void hooks.define(token(name)) });
    const problems = await problemsOf(
      startApp([define("one", "a:b"), define("two", "a:b"), define("three", "request:end")]),
    );
    expect(problems).toContain('plugin "two": the hook "a:b" is defined by plugin "one" already');
    expect(problems).toContain('plugin "three": the hook "request:end" is defined by the kernel already');
  });
});

describe("conditions that limit records to live ones", () => {
  it("apply together when two plugins have required them", async () => {
    const narrow =
      (where: Record<string, unknown>): HookFunction<"operation:narrow"> =>
      (operation) =>
        operation.require(where);
    const rows = [
      { id: "1", text: "a", team: "red" },
      { id: "2", text: "b", team: "red" },
      { id: "3", text: "a", team: "blue" },
    ];
    const api = keelson({
      entities: [note],
      driver: memoryDriver({ note: rows }),
      logger: noopLogger,
      plugins: [
        createPlugin({ id: "team", hooks: { "operation:narrow": narrow({ team: "red" }) } }),
        createPlugin({ id: "text", hooks: { "operation:narrow": narrow({ text: "a" }) } }),
      ],
    });
    expect((await api.as({ id: "u" }).note.list()).data.map(({ id }) => id)).toEqual(["1"]);
    expect(await api.asSystem().note.count()).toBe(1);
    await expect(api.asSystem().note.get("3")).rejects.toMatchObject({ status: 404 });
    await api.close();
  });
});

describe("a call with missing arguments", () => {
  it.each<[string, () => unknown, string]>([
    ["createPlugin()", () => createPlugin(undefined as never), 'at least an "id"'],
    ["createPlugin({})", () => createPlugin({} as never), 'createPlugin() needs an "id"'],
    [
      "createPlugin({ requires })",
      () => createPlugin({ id: "a", requires: "rules", provides: [1] } as never),
      '"requires" must be a list of names',
    ],
    ["action({})", () => action({} as never), "`handler`"],
  ])("%s is a ConfigurationError that names the field", (_what, call, message) => {
    expect(call).toThrow(ConfigurationError);
    expect(call).toThrow(message);
  });

  it("to a first-party plugin with a misspelt option is in the report", async () => {
    expect(await problemsOf(startApp([audit({ keepDay: 3 } as never)]))).toBe(
      'audit: there is no option "keepDay". Did you mean "keepDays"?',
    );
  });
});
