import { describe, expect, expectTypeOf, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { createApp, createPlugin, endpoint, type Plugin, type PluginOptions } from "../../../src/gate/index.ts";
import { noopLogger, Reply, token } from "../../../src/kernel/index.ts";

const boot = (...plugins: readonly Plugin[]) => {
  const decides = createPlugin({
    id: "decides",
    hooks: { "route:authorize": (asked) => void (asked.allowed = true) },
  });
  return createApp({ entities: [], driver: memoryDriver(), plugins: [decides, ...plugins], logger: noopLogger });
};
const get = (path: string): Request => new Request(`http://localhost${path}`);

describe("the state of a plugin", () => {
  const counter = createPlugin({
    id: "counter",
    setup: () => ({ count: 0 }),
    start: (_context, state) => void (state.count += 10),
    endpoints: {
      next: endpoint<{ count: number }>("/next", {
        rules: ["everyone"],
        handler: (_call, state) => ({ count: ++state.count }),
      }),
    },
  });

  it("is the result of setup, in start and in endpoints", async () => {
    const app = boot(counter);
    expect(await (await app.fetch(get("/next"))).json()).toEqual({ count: 11 });
    await app.close();
  });

  it("belongs to one app, even if two use one plugin", async () => {
    const [one, two] = [boot(counter), boot(counter)];
    for (let i = 0; i < 3; i++) await one.fetch(get("/next"));
    expect(await (await two.fetch(get("/next"))).json()).toEqual({ count: 11 });
    await Promise.all([one.close(), two.close()]);
  });

  it("is passed to getUser, driver wrappers, closing and stop", async () => {
    const seen: string[] = [];
    const mark = { name: "mine" };
    const note =
      <A extends unknown[]>(what: string, at: number, result: (args: A) => unknown) =>
      (...args: A) => {
        if (args[at] === mark) seen.push(what);
        return result(args) as never;
      };
    const plugin = createPlugin({
      id: "watcher",
      setup: () => mark,
      getUser: note("getUser", 2, () => null),
      wrapDriver: note("wrapDriver", 2, ([driver]) => driver),
      wrapHandlerDriver: note("wrapHandlerDriver", 3, ([driver]) => driver),
      closing: note("closing", 1, () => undefined),
      stop: note("stop", 1, () => undefined),
      endpoints: { driver: endpoint("/driver", { rules: ["everyone"], handler: ({ scope }) => scope.driver.name }) },
    });
    const app = boot(plugin);
    await app.fetch(get("/driver"));
    await app.close();
    expect([...new Set(seen)].sort()).toEqual(["closing", "getUser", "stop", "wrapDriver", "wrapHandlerDriver"]);
  });

  it("has its type in every function of the plugin", () => {
    createPlugin({
      id: "typed",
      setup: () => ({ count: 0 }),
      start: (_context, state) => void expectTypeOf(state).toEqualTypeOf<{ count: number }>(),
      stop: (_context, state) => void expectTypeOf(state).toEqualTypeOf<{ count: number }>(),
    });
  });
});

describe("the order of plugins", () => {
  const order = async (...options: readonly PluginOptions[]): Promise<readonly string[]> => {
    const started: string[] = [];
    const plugins = options.map((one) => createPlugin({ ...one, start: () => void started.push(one.id) }));
    const app = boot(...plugins);
    await app.ready;
    await app.close();
    return started;
  };

  it("puts a plugin after those it names, without requiring them", async () => {
    expect(await order({ id: "a", after: ["b", "absent"] }, { id: "b" })).toEqual(["b", "a"]);
  });

  it("puts a plugin before those it names, without requiring them", async () => {
    expect(await order({ id: "a" }, { id: "b", before: ["a", "absent"] })).toEqual(["b", "a"]);
  });

  it("is refused when it is a circle", () => {
    const a = createPlugin({ id: "a", after: ["b"] });
    const b = createPlugin({ id: "b", after: ["a"] });
    expect(() => boot(a, b)).toThrow("Plugins wait for each other in a circular way: a -> b -> a");
  });

  it("is refused when it is not a list of names", () => {
    expect(() => createPlugin({ id: "a", after: "b" as never })).toThrow('"after" must be a list of names');
  });
});

describe("closing", () => {
  it("ends endless streams before the app waits for pending requests", async () => {
    const events = createPlugin({
      id: "events",
      setup: () => ({ ends: new Set<() => void>() }),
      closing: (_context, { ends }) => {
        for (const end of ends) end();
      },
      endpoints: {
        events: endpoint<{ ends: Set<() => void> }>("/events", {
          rules: ["everyone"],
          handler: (_call, { ends }) =>
            new Reply(
              200,
              new ReadableStream({
                start(controller) {
                  controller.enqueue(new TextEncoder().encode("data: hello\n\n"));
                  ends.add(() => controller.close());
                },
              }),
              { "content-type": "text/event-stream" },
            ),
        }),
      },
    });
    const app = boot(events);
    const response = await app.fetch(get("/events"));
    const text = response.text();
    await app.close();
    expect(await text).toBe("data: hello\n\n");
  });

  it("refuses new requests already, while in-process calls are still possible", async () => {
    let app: ReturnType<typeof boot>;
    const seen: unknown[] = [];
    const last = createPlugin({
      id: "last",
      async closing({ runAs }) {
        seen.push((await app.fetch(get("/nothing"))).status);
        seen.push(await runAs("system", async (scope) => scope.principal.kind));
      },
    });
    app = boot(last);
    await app.ready;
    await app.close();
    expect(seen).toEqual([503, "system"]);
  });

  it("does not keep the app from closing when it fails", async () => {
    const stopped: string[] = [];
    const failing = createPlugin({
      id: "failing",
      closing: () => {
        throw new Error("no");
      },
      stop: () => void stopped.push("failing"),
    });
    const app = boot(failing);
    await app.ready;
    await app.close();
    expect(stopped).toEqual(["failing"]);
  });
});

describe("a token", () => {
  interface Clock {
    time(): string;
  }
  const Clock = token<Clock>("acme.clock");
  const clock = createPlugin({ id: "clock", setup: ({ provide }) => provide(Clock, () => ({ time: () => "noon" })) });

  it("names a service with its type, for plugins, handlers and the app", async () => {
    const asks = createPlugin({
      id: "asks",
      after: ["clock"],
      setup: ({ use }) => use(Clock),
      endpoints: {
        time: endpoint<Clock>("/time", {
          rules: ["everyone"],
          handler: ({ scope }, own) => [own.time(), scope.services.resolve(Clock).time()],
        }),
      },
    });
    const app = boot(asks, clock);
    expect(await (await app.fetch(get("/time"))).json()).toEqual(["noon", "noon"]);
    expectTypeOf(app.container.resolve(Clock)).toEqualTypeOf<Clock>();
    expect(app.container.resolve(Clock).time()).toBe("noon");
    expect(app.container.resolve("acme.clock")).toBe(app.container.resolve(Clock));
    await app.close();
  });

  it("gives undefined with tryUse, and an error with use, if nothing is provided", () => {
    const seen: unknown[] = [];
    const asks = createPlugin({
      id: "asks",
      setup({ use, tryUse, has }) {
        seen.push(tryUse(Clock), has(Clock));
        use(Clock);
      },
    });
    expect(() => boot(asks)).toThrow('Service "acme.clock" not found');
    expect(seen).toEqual([undefined, false]);
  });
});
