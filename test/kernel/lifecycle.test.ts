import { describe, expect, it, vi } from "vitest";
import { memoryDriver } from "../../src/drivers/memory/index.ts";
import { ConfigurationError, entity, string } from "../../src/entity/index.ts";
import {
  type App,
  createApp,
  createPlugin,
  type Driver,
  endpoint,
  type Middleware,
  type Plugin,
  withMiddleware,
} from "../../src/gate/index.ts";
import { createService, DatabaseUnavailableError, UnavailableError } from "../../src/kernel/index.ts";
import { recordingLogger } from "../../src/testing/recording-logger.ts";
import { deferred } from "../support/deferred.ts";

const thing = entity("thing", { name: string });
const open = createPlugin({
  id: "open",
  hooks: {
    "route:authorize": (ask) => void (ask.allowed = true),
    "operation:authorize": (operation) => void (operation.decision.allowed = true),
  },
  endpoints: {
    alive: endpoint("/alive", { rules: [], early: true, handler: ({ scope }) => scope.principal.kind }),
    count: endpoint("/count", { rules: [], handler: async ({ scope }) => await scope.driver.count("thing") }),
  },
});

const pass: Middleware = (statement, next) => next(statement);

/** A memory driver whose connection can be made to fail. */
function flaky(): { driver: Driver; fail(error: Error | undefined): void } {
  const inner = memoryDriver();
  let failure: Error | undefined;
  const connect: Driver["connect"] = async (context) => {
    if (failure !== undefined) throw failure;
    await inner.connect(context);
  };
  return { driver: withMiddleware(inner, pass, { connect }), fail: (error) => void (failure = error) };
}

function boot(driver: Driver, plugins: readonly Plugin[] = [], logger = recordingLogger()): App {
  return createApp({ entities: [thing], driver, plugins: [open, ...plugins], logger, getUser: () => ({ id: "u" }) });
}

async function get(kernel: App, url: string): Promise<[number, string | null]> {
  const { status, body } = await kernel.handle({ method: "GET", url, headers: {} });
  return [status, typeof body === "string" ? body : null];
}

describe("starting", () => {
  it("makes requests wait until the app is ready", async () => {
    let release: () => void = () => {};
    const slow = createPlugin({ id: "slow", start: () => new Promise<void>((resolve) => (release = resolve)) });
    const kernel = boot(memoryDriver(), [slow]);
    const answer = get(kernel, "/count");
    await vi.waitUntil(() => release.name !== "release");
    release();
    expect(await answer).toEqual([200, "0"]);
    await kernel.close();
  });

  it("serves early routes while the database is unavailable, without getUser", async () => {
    const { driver, fail } = flaky();
    fail(new DatabaseUnavailableError());
    const kernel = boot(driver);
    await expect(kernel.ready).rejects.toBeInstanceOf(DatabaseUnavailableError);
    expect(await get(kernel, "/alive")).toEqual([200, '"anonymous"']);
    await kernel.close();
  });

  it("responds with 503 while the database is unavailable, and recovers by itself", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const { driver, fail } = flaky();
      fail(new DatabaseUnavailableError());
      const kernel = boot(driver);
      await kernel.ready.catch(() => {});
      expect((await get(kernel, "/count"))[0]).toBe(503);
      await expect(kernel.as({ id: "u" }).thing?.count()).rejects.toMatchObject({ status: 503 });
      fail(undefined);
      expect((await get(kernel, "/count"))[0]).toBe(503);
      vi.setSystemTime(Date.now() + 1_001);
      expect(await get(kernel, "/count")).toEqual([200, "0"]);
      await kernel.close();
    } finally {
      vi.useRealTimers();
    }
  });

  it("does not retry permanent failures, and hides their text from responses", async () => {
    const logger = recordingLogger();
    const broken = createPlugin({
      id: "broken",
      start: () => {
        throw new ConfigurationError("tables differ from definitions");
      },
    });
    const kernel = boot(memoryDriver(), [broken], logger);
    await expect(kernel.ready).rejects.toThrow("tables differ");
    const [status, body] = await get(kernel, "/count");
    expect(status).toBe(500);
    expect(body).toContain("CONFIGURATION_ERROR");
    expect(body).not.toContain("tables differ");
    expect(logger.lines.join("\n")).toContain("tables differ");
    await kernel.close();
  });

  it("recognises by its brand another copy's error about an unavailable database", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const { driver, fail } = flaky();
      const away = Object.assign(new Error("away"), { code: "DATABASE_UNAVAILABLE", status: 503, toJSON: () => ({}) });
      fail(Object.defineProperty(away, Symbol.for("keelson.error"), { value: true }));
      const kernel = boot(driver);
      await kernel.ready.catch(() => {});
      fail(undefined);
      vi.setSystemTime(Date.now() + 1_001);
      expect(await get(kernel, "/count")).toEqual([200, "0"]);
      await kernel.close();
    } finally {
      vi.useRealTimers();
    }
  });

  it("does not crash the process when `ready` is not awaited", async () => {
    const { driver, fail } = flaky();
    fail(new DatabaseUnavailableError());
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const kernel = boot(driver);
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    await kernel.close();
  });
});

describe("stopping", () => {
  it("always completes: each part is stopped, failures are logged", async () => {
    const logger = recordingLogger();
    const stopped: string[] = [];
    const part = (id: string) =>
      createPlugin({
        id,
        services: { [`${id}.pool`]: () => ({ close: () => void stopped.push(`${id}.pool`) }) },
        start: ({ use }) => void use(`${id}.pool`),
        stop() {
          stopped.push(id);
          throw new TypeError("stuck");
        },
      });
    const driver = memoryDriver();
    const disconnect = async () => void stopped.push("driver");
    const kernel = boot(withMiddleware(driver, pass, { disconnect }), [part("a"), part("b")], logger);
    await kernel.ready;
    await kernel.close();
    expect(stopped).toEqual(["b", "a", "b.pool", "a.pool", "driver"]);
    expect(logger.lines.filter((line) => line.includes("Stopping failed"))).toHaveLength(2);
  });
});

describe("closing", () => {
  it("happens once, however often it is called", async () => {
    let stops = 0;
    const kernel = boot(memoryDriver(), [createPlugin({ id: "counted", stop: () => void stops++ })]);
    await kernel.ready;
    await Promise.all([kernel.close(), kernel.close()]);
    await kernel.close();
    expect(stops).toBe(1);
  });

  it("does not wait forever for a plugin's stop, a service's close or a start", async () => {
    const logger = recordingLogger();
    const never = () => new Promise<void>(() => {});
    const stopped: string[] = [];
    const parts = [
      createPlugin({ id: "stuck", stop: never }),
      createPlugin({ id: "last", start: never, stop: () => void stopped.push("last") }),
    ];
    const disconnect = async () => void stopped.push("driver");
    const options = { entities: [thing], logger, limits: { hookMs: 5 }, services: { pool: () => ({ close: never }) } };
    const kernel = createApp({
      ...options,
      driver: withMiddleware(memoryDriver(), pass, { disconnect }),
      plugins: parts,
    });
    kernel.container.resolve("pool");
    await kernel.close();
    expect(stopped).toEqual(["driver"]);
    const lines = logger.lines.filter((line) => line.includes("Stopping failed")).join();
    for (const what of ["start", 'plugin "stuck"', "services"]) expect(lines).toContain(`Stopping failed: ${what}`);
  });

  it("stops an app whose start ends later", async () => {
    const { driver, fail } = flaky();
    const begun: string[] = [];
    let release: () => void = () => {};
    const slow = createPlugin({ id: "slow", start: () => new Promise<void>((resolve) => (release = resolve)) });
    const later = createPlugin({ id: "later", start: () => void begun.push("later") });
    const limits = { hookMs: 5 };
    const kernel = createApp({
      entities: [thing],
      driver,
      plugins: [slow, later],
      limits,
      logger: recordingLogger(),
    });
    await vi.waitUntil(() => release.name !== "release");
    await kernel.close();
    release();
    await expect(kernel.ready).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(begun).toEqual([]);
    fail(new DatabaseUnavailableError());
    await expect(kernel.asSystem().thing?.count()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  it("starts a plugin that takes longer than the time limit of a hook", async () => {
    const slow = createPlugin({ id: "slow", start: () => new Promise<void>((resolve) => setTimeout(resolve, 20)) });
    const limits = { hookMs: 5 };
    const kernel = createApp({ entities: [], driver: memoryDriver(), plugins: [slow], limits });
    await expect(kernel.ready).resolves.toBeUndefined();
    await kernel.close();
  });

  it("finishes pending in-process calls, and refuses later ones", async () => {
    const [begun, gate] = [deferred<void>(), deferred<void>()];
    const stopped: string[] = [];
    const parts = createPlugin({
      id: "parts",
      hooks: {
        "operation:execute": async (operation) => {
          if (operation.kind !== "create") return;
          begun.resolve();
          await gate.promise;
        },
      },
      stop: () => void stopped.push("parts"),
    });
    const kernel = boot(memoryDriver(), [parts]);
    const created = kernel.asSystem().thing?.create({ name: "late" } as never);
    await begun.promise;
    const closing = kernel.close();
    await expect(kernel.asSystem().thing?.count()).rejects.toBeInstanceOf(UnavailableError);
    await expect(kernel.as({ id: "u" }).thing?.count()).rejects.toBeInstanceOf(UnavailableError);
    expect(stopped).toEqual([]);
    gate.resolve();
    expect(await created).toMatchObject({ name: "late" });
    await closing;
    expect(stopped).toEqual(["parts"]);
  });

  it("allows a pending request to use in-process calls to its end", async () => {
    const [begun, gate] = [deferred<void>(), deferred<void>()];
    const slow = createPlugin({
      id: "slow",
      endpoints: {
        slow: endpoint("/slow", {
          rules: [],
          handler: async () => {
            begun.resolve();
            await gate.promise;
            return { count: await kernel.asSystem().thing?.count() };
          },
        }),
      },
    });
    const kernel = boot(memoryDriver(), [slow]);
    const answer = get(kernel, "/slow");
    await begun.promise;
    const closing = kernel.close();
    gate.resolve();
    expect(await answer).toEqual([200, '{"count":0}']);
    await closing;
  });

  it("abandons in-process calls that do not end", async () => {
    const logger = recordingLogger();
    const begun = deferred<void>();
    const stuck = createPlugin({
      id: "stuck",
      hooks: {
        "operation:execute": () => {
          begun.resolve();
          return new Promise<void>(() => {});
        },
      },
    });
    const limits = { hookMs: 0, requestMs: 5 };
    const kernel = createApp({
      entities: [thing],
      driver: memoryDriver(),
      plugins: [open, stuck],
      limits,
      logger,
    });
    void kernel.asSystem().thing?.count();
    await begun.promise;
    await expect(kernel.close()).resolves.toBeUndefined();
    expect(logger.lines.join()).toContain("Stopping failed: calls in flight");
  });

  it("refuses in-process calls that come after it", async () => {
    const kernel = boot(memoryDriver());
    await kernel.close();
    await expect(kernel.as({ id: "u" }).thing?.count()).rejects.toBeInstanceOf(UnavailableError);
    await expect(kernel.asSystem().thing?.count()).rejects.toBeInstanceOf(UnavailableError);
  });
});

describe("services", () => {
  it("are registered by name or as a definition", async () => {
    const kernel = boot(memoryDriver());
    kernel.registerService("one", () => 1, { tags: ["number"] });
    kernel.registerService(createService("two", () => 2, { tags: ["number"] }));
    expect(kernel.container.getByTag("number")).toEqual(["one", "two"]);
    expect(kernel.container.resolve("two")).toBe(2);
    await kernel.close();
  });

  it("of a scope are closed at the end of each in-process call", async () => {
    const closed: string[] = [];
    const unit = createService("unit", () => ({ close: () => void closed.push("unit") }), { lifecycle: "scoped" });
    const uses = createPlugin({
      id: "uses",
      hooks: { "operation:execute": ({ scope }) => void scope.services.resolve("unit") },
    });
    const kernel = boot(memoryDriver(), [uses]);
    kernel.registerService(unit);
    await kernel.as({ id: "u" }).thing?.count();
    await kernel.as({ id: "u" }).thing?.count();
    expect(closed).toEqual(["unit", "unit"]);
    await kernel.close();
  });
});

describe("routes of an app", () => {
  it("are frozen", async () => {
    const kernel = boot(memoryDriver());
    expect(Object.isFrozen(kernel.routes)).toBe(true);
    expect(kernel.routes.every((route) => Object.isFrozen(route))).toBe(true);
    await kernel.close();
  });
});

describe("two apps in one process", () => {
  it("share no services, rules, drivers or routes", async () => {
    const [one, two] = [boot(memoryDriver()), boot(memoryDriver())];
    one.registerService("only-one", () => 1);
    expect(two.container.has("only-one")).toBe(false);
    await one.asSystem().thing?.create({ name: "x" } as never);
    expect(await get(one, "/count")).toEqual([200, "1"]);
    expect(await get(two, "/count")).toEqual([200, "0"]);
    await Promise.all([one.close(), two.close()]);
  });
});
