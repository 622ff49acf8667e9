import { describe, expect, it } from "vitest";
import { ConfigurationError } from "../../../src/entity/index.ts";
import {
  clearGlobalContainer,
  createScope,
  createService,
  getGlobalContainer,
  lazyService,
  ServiceContainer,
  type ServiceContext,
  setGlobalContainer,
} from "../../../src/kernel/index.ts";
import { deferred } from "../../support/deferred.ts";
import { thenable } from "../../support/thenable.ts";

describe("ServiceContainer", () => {
  it("is created with and without new", () => {
    expect(new ServiceContainer().register("a", () => 1).resolve("a")).toBe(1);
    expect(
      ServiceContainer()
        .register("a", () => 2)
        .resolve("a"),
    ).toBe(2);
  });

  it("creates a singleton once and on first use", () => {
    let made = 0;
    const container = new ServiceContainer().register("counter", () => ({ number: ++made }));
    expect(made).toBe(0);
    expect(container.resolve("counter")).toBe(container.resolve("counter"));
    expect(made).toBe(1);
  });

  it("creates a transient service on every resolve", () => {
    const container = new ServiceContainer().register("thing", () => ({}), { lifecycle: "transient" });
    expect(container.resolve("thing")).not.toBe(container.resolve("thing"));
  });

  it("creates a scoped service once per scope", () => {
    const container = new ServiceContainer().register("thing", () => ({}), { lifecycle: "scoped" });
    const [one, two] = [createScope(container), createScope(container)];
    expect(one.resolve("thing")).toBe(one.resolve("thing"));
    expect(one.resolve("thing")).not.toBe(two.resolve("thing"));
  });

  it("never creates a singleton from a scope", () => {
    const container = new ServiceContainer()
      .register("request", () => ({}), { lifecycle: "scoped" })
      .register("keeper", ({ driver }) => driver);
    container.setDriver("base");
    const scope = createScope(container, { driver: "transaction" });
    expect(scope.resolve("keeper")).toBe("base");
  });

  it("refuses an id that is taken", () => {
    const container = new ServiceContainer().register("a", () => 1);
    expect(() => container.register("a", () => 2)).toThrow('Service "a" is registered twice');
    expect(() => container.registerInstance("a", 3)).toThrow(ConfigurationError);
  });

  it("names a service that is not registered", () => {
    expect(() => new ServiceContainer().resolve("mailer")).toThrow('Service "mailer" not found');
  });

  it("prints a circle of factories as a chain", () => {
    const container = new ServiceContainer()
      .register("a", ({ resolve }) => resolve("b"))
      .register("b", ({ resolve }) => resolve("c"))
      .register("c", ({ resolve }) => resolve("a"));
    expect(() => container.resolve("a")).toThrow("circular way: a -> b -> c -> a");
  });

  it("shares one call of an async factory between concurrent callers", async () => {
    let made = 0;
    const container = new ServiceContainer().register("db", async () => ({ number: ++made }));
    const [one, two] = await Promise.all([container.resolveAsync("db"), container.resolveAsync("db")]);
    expect(one).toBe(two);
    expect(made).toBe(1);
  });

  it("calls an async factory again after it failed", async () => {
    let attempts = 0;
    const container = new ServiceContainer().register("db", async () => {
      if (++attempts === 1) throw new ConfigurationError("not yet");
      return "up";
    });
    await expect(container.resolveAsync("db")).rejects.toThrow("not yet");
    expect(await container.resolveAsync("db")).toBe("up");
  });

  it("lists ids, and ids by tag", () => {
    const container = new ServiceContainer().register("a", () => 1, { tags: ["remote"] }).register("b", () => 2);
    expect(container.getServiceIds()).toEqual(["a", "b"]);
    expect(container.getByTag("remote")).toEqual(["a"]);
    expect(container.has("b")).toBe(true);
    expect(container.has("c")).toBe(false);
  });

  it("closes what factories created, last in, first out, and all of it", async () => {
    const closed: string[] = [];
    const closable = (name: string, fails = false) => ({
      close() {
        closed.push(name);
        if (fails) throw new ConfigurationError(`${name} hangs`);
      },
    });
    const container = new ServiceContainer()
      .register("first", () => closable("first"))
      .register("second", () => closable("second", true))
      .register("third", async () => closable("third"))
      .register("plain", () => 1)
      .register("unused", () => closable("unused"));
    container.registerInstance("given", closable("given"));
    for (const id of ["first", "second", "plain"]) container.resolve(id);
    await container.resolveAsync("third");
    await expect(container.dispose()).rejects.toThrow("1 services failed to close");
    expect(closed).toEqual(["third", "second", "first"]);
    await expect(container.dispose()).resolves.toBeUndefined();
  });

  it("returns the value of an async factory once it has settled", async () => {
    const container = new ServiceContainer().register("db", async () => "up");
    expect(container.resolve("db")).toBeInstanceOf(Promise);
    await container.resolveAsync("db");
    expect(container.resolve("db")).toBe("up");
  });

  it("starts a factory's thenable once, however often it is resolved", async () => {
    let started = 0;
    const lazy = thenable<string>((resolve) => resolve(`row ${++started}`));
    const container = new ServiceContainer().register("row", () => lazy);
    expect(await Promise.all([container.resolveAsync("row"), container.resolveAsync("row")])).toEqual([
      "row 1",
      "row 1",
    ]);
    expect(container.resolve("row")).toBe("row 1");
  });

  it("prints a circle of async factories instead of waiting forever", async () => {
    const waits = (id: string) => async (context: ServiceContext) => {
      await new Promise((resolve) => setImmediate(resolve));
      return await context.resolveAsync(id);
    };
    const container = new ServiceContainer().register("a", waits("b")).register("b", waits("a"));
    await expect(container.resolveAsync("a")).rejects.toThrow("circular way: a -> b -> a");
  });

  it.each(["singleton", "scoped"] as const)(
    "prints a circle of %s services that are resolved from both ends",
    async (lifecycle) => {
      const waits =
        (...ids: string[]) =>
        async (context: ServiceContext) => {
          await new Promise((resolve) => setImmediate(resolve));
          return await Promise.all(ids.map((id) => context.resolveAsync(id)));
        };
      const container = new ServiceContainer()
        .register("a", waits("x", "b"), { lifecycle })
        .register("b", waits("x", "c"), { lifecycle })
        .register("c", waits("a"), { lifecycle })
        .register("x", waits(), { lifecycle });
      const scope = createScope(container);
      const all = await Promise.allSettled(["a", "b", "c"].map((id) => scope.resolveAsync(id)));
      expect(all.map((one) => one.status)).toEqual(["rejected", "rejected", "rejected"]);
      expect((all[0] as PromiseRejectedResult).reason).toBeInstanceOf(ConfigurationError);
      expect((all[0] as PromiseRejectedResult).reason.message).toContain("circular way: a -> b -> c -> a");
    },
  );

  it("allows two services under construction to wait for a third one", async () => {
    const gate = deferred<string>();
    const needs = (id: string) => (context: ServiceContext) => context.resolveAsync(id);
    const container = new ServiceContainer()
      .register("db", () => gate.promise)
      .register("users", needs("db"))
      .register("posts", needs("db"))
      .register("api", ({ resolveAsync }) => Promise.all([resolveAsync("users"), resolveAsync("posts")]));
    const made = Promise.all([container.resolveAsync("posts"), container.resolveAsync("api")]);
    gate.resolve("up");
    expect(await made).toEqual(["up", ["up", "up"]]);
  });

  it("allows services under construction to refer to each other on use", () => {
    const container = new ServiceContainer()
      .register("a", ({ resolve }) => ({ name: "a", other: () => resolve<{ name: string }>("b").name }))
      .register("b", ({ resolve }) => ({ name: "b", other: resolve<{ name: string }>("a").name }));
    expect(container.resolve<{ other(): string }>("a").other()).toBe("b");
  });

  it("closes nothing for a failed factory, before and during its close", async () => {
    const fails = async () => {
      throw new ConfigurationError("not yet");
    };
    const container = new ServiceContainer().register("early", fails).register("late", fails);
    await expect(container.resolveAsync("early")).rejects.toThrow("not yet");
    container.resolve<Promise<unknown>>("late").catch(() => {});
    await expect(container.dispose()).resolves.toBeUndefined();
  });

  it("closes the dependencies of an async factory after its service", async () => {
    const closed: string[] = [];
    const closable = (name: string) => ({ close: () => void closed.push(name) });
    const container = new ServiceContainer()
      .register("pool", async () => closable("pool"))
      .register("repo", async ({ resolveAsync }) => {
        await new Promise((resolve) => setImmediate(resolve));
        await resolveAsync("pool");
        return closable("repo");
      })
      .register("alias", ({ resolve }) => resolve("repo"));
    await container.resolveAsync("repo");
    container.resolve("alias");
    await container.dispose();
    expect(closed).toEqual(["repo", "pool"]);
  });

  it("creates all singletons on request", async () => {
    const made: string[] = [];
    const container = new ServiceContainer()
      .register("a", () => void made.push("a"))
      .register("b", async () => void made.push("b"))
      .register("c", () => void made.push("c"), { lifecycle: "transient" });
    await container.initializeAll();
    expect(made).toEqual(["a", "b"]);
  });

  it("refuses a factory that is not valid", () => {
    expect(() => new ServiceContainer().register("a", "b" as never)).toThrow('Service "a" needs a factory function');
  });
});

describe("createScope", () => {
  it("looks up its own values before its parent's", () => {
    const container = new ServiceContainer().register("user", () => "nobody").register("clock", () => "now");
    const scope = createScope(container, { user: "ann" });
    expect(scope.resolve("user")).toBe("ann");
    expect(scope.resolve("clock")).toBe("now");
    expect(scope.set("clock", "later").resolve("clock")).toBe("later");
    expect([scope.has("user"), scope.has("clock"), scope.has("x")]).toEqual([true, true, false]);
  });

  it("shows its values and services to its scoped services, and to no singleton", () => {
    const container = new ServiceContainer()
      .register("currentUser", () => "nobody")
      .register("cart", ({ resolve }) => ({ of: resolve("currentUser") }), { lifecycle: "scoped" })
      .register("checkout", ({ resolve }) => ({ cart: resolve("cart") }), { lifecycle: "scoped" })
      .register("report", ({ resolve }) => resolve("currentUser"), { lifecycle: "transient" })
      .register("keeper", ({ resolve }) => resolve("currentUser"));
    const scope = createScope(container, { currentUser: "ann" });
    expect(scope.resolve("checkout")).toEqual({ cart: { of: "ann" } });
    expect(scope.resolve<{ cart: unknown }>("checkout").cart).toBe(scope.resolve("cart"));
    expect(scope.resolve("report")).toBe("ann");
    expect(scope.resolve("keeper")).toBe("nobody");
  });

  it("closes its own scoped services, last in, first out, and nothing of its parent", async () => {
    const closed: string[] = [];
    const closable = (name: string) => () => ({ close: () => void closed.push(name) });
    const container = new ServiceContainer()
      .register("pool", closable("pool"))
      .register("cart", closable("cart"), { lifecycle: "scoped" })
      .register("unit", closable("unit"), { lifecycle: "scoped" });
    const [scope, other] = [createScope(container, { given: closable("given")() }), createScope(container)];
    for (const id of ["pool", "cart", "unit", "given"]) scope.resolve(id);
    other.resolve("cart");
    await scope.dispose();
    expect(closed).toEqual(["unit", "cart"]);
  });

  it("passes its driver to the scoped services it creates", async () => {
    const container = new ServiceContainer().register("repo", ({ driver }) => ({ driver }), { lifecycle: "scoped" });
    const scope = createScope(container);
    scope.setDriver("tx");
    expect(await scope.resolveAsync("repo")).toEqual({ driver: "tx" });
    const context = scope.getContext();
    expect(context.driver).toBe("tx");
    expect(context.resolve("repo")).toEqual({ driver: "tx" });
    expect(await context.resolveAsync("repo")).toEqual({ driver: "tx" });
  });
});

describe("createService and lazyService", () => {
  it("create a definition that register accepts", () => {
    const mailer = createService("mailer", () => "mail", { tags: ["x"] });
    const container = new ServiceContainer().register(mailer);
    expect(container.resolve("mailer")).toBe("mail");
    expect(container.getByTag("x")).toEqual(["mailer"]);
  });

  it("create a factory with its dependencies", async () => {
    const factory = createService(["a", "b"], ([a, b], { resolveAsync }) => ({ sum: `${a}${b}`, resolveAsync }));
    const container = new ServiceContainer()
      .register("a", () => "1")
      .register("b", () => "2")
      .register("sum", factory);
    const { sum, resolveAsync } = container.resolve<{ sum: string; resolveAsync: (id: string) => Promise<unknown> }>(
      "sum",
    );
    expect(sum).toBe("12");
    expect(await resolveAsync("a")).toBe("1");
  });

  it("memoize a factory", () => {
    let made = 0;
    const factory = lazyService(() => ++made);
    const context = createScope(new ServiceContainer()).getContext();
    expect([factory(context), factory(context)]).toEqual([1, 1]);
  });

  it("resolve from the process-wide container on first use", async () => {
    const handle = lazyService<string>("late");
    setGlobalContainer(new ServiceContainer().register("late", () => "here"));
    expect(handle.id).toBe("late");
    expect(handle.get()).toBe("here");
    expect(await handle.getAsync()).toBe("here");
    clearGlobalContainer();
    expect(getGlobalContainer().has("late")).toBe(false);
    expect(() => lazyService("")).toThrow(ConfigurationError);
  });
});
