import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../src/drivers/memory/index.ts";
import { ConfigurationError, entity, string } from "../../src/entity/index.ts";
import type { Driver, Operation } from "../../src/gate/index.ts";
import {
  ALWAYS,
  createPlugin,
  endpoint,
  type Plugin,
  type PluginContext,
  type RouteContext,
  withMiddleware,
} from "../../src/gate/index.ts";
import { notFoundError, Reply, type User } from "../../src/kernel/index.ts";
import { createFakeKernel } from "../../src/testing/index.ts";

const thing = entity("thing", { name: string });
const note = entity("note", { text: string });
const contractEntities = [thing, note];

const makeDriver = memoryDriver;

/** A fake kernel with plugins in order. */
async function boot({
  plugins,
  driver,
  user = null,
}: {
  readonly plugins: readonly Plugin[];
  readonly driver: Driver;
  readonly user?: User | null;
}) {
  const kernel = createFakeKernel()
    .withEntities(...contractEntities)
    .withDriver(driver)
    .as(user);
  await kernel.use(...plugins);
  return {
    call: (method: string, path: string, body?: unknown) => kernel.call(method, path, { body }),
    close: () => kernel.close(),
  };
}

describe("the fake kernel", () => {
  const route = (path: string, handler: (context: never) => unknown, method = "GET") =>
    createPlugin({
      id: "route",
      setup: ({ routes }) => routes.add({ method, path, action: "test", handler: handler as never }),
    });
  const answering = async (handler: (context: never) => unknown) => {
    const kernel = await boot({ plugins: [route("/things/:id/look", handler)], driver: makeDriver() });
    const answer = await kernel.call("GET", "/things/a%20b/look");
    await kernel.close();
    return answer;
  };

  it("gives a handler decoded parameters, and responds with 200 and its result", async () => {
    const { status, body } = await answering(({ params }: { params: unknown }) => ({ params }));
    expect([status, body]).toEqual([200, { params: { id: "a b" } }]);
  });

  it("responds with 204 for undefined, and with a returned Reply", async () => {
    expect((await answering(() => undefined)).status).toBe(204);
    const { status, headers, body } = await answering(() => new Reply(201, [1], { location: "/x" }));
    expect([status, headers.location, body]).toEqual([201, "/x", [1]]);
  });

  it("turns thrown errors into replies, and reveals nothing about other errors", async () => {
    const known = await answering(() => {
      throw notFoundError("No such look");
    });
    expect([known.status, (known.body as { code: string }).code]).toEqual([404, "NOT_FOUND"]);
    const strange = await answering(() => {
      throw new TypeError("secret");
    });
    expect(strange.status).toBe(500);
    expect(JSON.stringify(strange.body)).not.toContain("secret");
  });

  it("prefers static segments to parameters", async () => {
    const plugin = createPlugin({
      id: "two-routes",
      setup({ routes }) {
        routes.add({ method: "GET", path: "/things/:id", action: "one", handler: () => "one" });
        routes.add({ method: "GET", path: "/things/count", action: "count", handler: () => "count" });
      },
    });
    const kernel = await boot({ plugins: [plugin], driver: makeDriver() });
    expect((await kernel.call("GET", "/things/count")).body).toBe("count");
    expect((await kernel.call("GET", "/things/7")).body).toBe("one");
    expect((await kernel.call("GET", "/elsewhere")).status).toBe(404);
    await kernel.close();
  });

  it("responds with 405 and the allowed methods for any other", async () => {
    const plugin = createPlugin({
      id: "two-methods",
      setup({ routes }) {
        for (const method of ["GET", "DELETE"])
          routes.add({ method, path: "/things/:id", action: method, handler: () => method });
      },
    });
    const kernel = await boot({ plugins: [plugin], driver: makeDriver() });
    const { status, headers, body } = await kernel.call("PUT", "/things/7");
    expect([status, (body as { code: string }).code]).toEqual([405, "METHOD_NOT_ALLOWED"]);
    expect(String(headers.allow).split(", ").sort()).toEqual(["DELETE", "GET", "HEAD", "OPTIONS"]);
    await kernel.close();
  });

  it.each<[string, User | undefined, Record<string, number>]>([
    ["anonymous callers", undefined, { open: 200, known: 401, chief: 401, nobody: 401, early: 200 }],
    ["users", { id: "u" }, { open: 200, known: 200, chief: 403, nobody: 403, early: 200 }],
    ["admins by role", { id: "r", role: "admin" }, { open: 200, known: 200, chief: 200, nobody: 403, early: 200 }],
    ["admins by flag", { id: "f", isAdmin: true }, { open: 200, known: 200, chief: 200, nobody: 403, early: 200 }],
    ["admins by list", { id: "l", roles: ["admin"] }, { open: 200, known: 200, chief: 200, nobody: 403, early: 200 }],
  ])("applies the rules of endpoints to %s", async (_who, user, expected) => {
    const handler = ({ scope }: RouteContext) => scope.principal.kind;
    const plugin = createPlugin({
      id: "doors",
      endpoints: {
        open: endpoint("/open", { rules: ["everyone"], handler }),
        known: endpoint("/known", { rules: ["authenticated"], handler }),
        chief: endpoint("/chief", { rules: ["admin"], handler }),
        nobody: endpoint("/nobody", { rules: [], handler }),
        early: endpoint("/early", { rules: ["everyone"], handler, early: true }),
      },
    });
    const kernel = await boot({ plugins: [plugin], driver: makeDriver(), ...(user === undefined ? {} : { user }) });
    const statuses: Record<string, number> = {};
    for (const name of Object.keys(expected)) statuses[name] = (await kernel.call("GET", `/${name}`)).status;
    expect(statuses).toEqual(expected);
    expect((await kernel.call("GET", "/early")).body).toBe("anonymous");
    await kernel.close();
  });

  it("masks records of operations and of the driver in responses", async () => {
    const veil = createPlugin({
      id: "veil",
      hooks: { "access:mask": (draft) => void (draft.mask = { ...draft.mask, readable: new Set(["name"]) }) },
      setup: ({ routes }) =>
        routes.add({
          method: "GET",
          path: "/raw",
          action: "raw",
          async handler({ scope }) {
            const { records } = await scope.run({ kind: "create", entity: "thing", data: { name: "n" } });
            return { mine: records, raw: await scope.driver.findMany("thing"), at: new Date(0) };
          },
        }),
    });
    const kernel = await boot({ plugins: [veil], driver: makeDriver() });
    const { body } = await kernel.call("GET", "/raw");
    expect(body).toEqual({ mine: [{ name: "n" }], raw: [{ name: "n" }], at: "1970-01-01T00:00:00.000Z" });
    await kernel.close();
  });

  it("runs a request's hooks around its handler, and lets the last add headers", async () => {
    const seen: unknown[] = [];
    const plugin = createPlugin({
      id: "around",
      hooks: {
        "request:start": ({ route, params }) => void seen.push(["start", route.action, params.id]),
        "request:end"({ response }) {
          seen.push(["end", response.status, response.body]);
          response.headers["x-seen"] = "yes";
        },
      },
      setup: ({ routes }) =>
        routes.add({
          method: "GET",
          path: "/things/:id",
          action: "look",
          handler() {
            seen.push("handler");
            return "a";
          },
        }),
    });
    const kernel = await boot({ plugins: [plugin], driver: makeDriver() });
    const { status, headers } = await kernel.call("GET", "/things/7");
    expect([status, headers["x-seen"]]).toEqual([200, "yes"]);
    expect(seen).toEqual([["start", "look", "7"], "handler", ["end", 200, '"a"']]);
    await kernel.close();
  });

  it("responds with the error that a request hook throws", async () => {
    const refuse = (): never => {
      throw notFoundError("Not today");
    };
    for (const name of ["request:start", "request:end"] as const) {
      const plugins = [createPlugin({ id: "refuses", hooks: { [name]: refuse } }), route("/look", () => 1)];
      const kernel = await boot({ plugins, driver: makeDriver() });
      expect((await kernel.call("GET", "/look")).status).toBe(404);
      await kernel.close();
    }
  });

  it("passes the body to the code that reads it", async () => {
    const plugin = route("/echo", ({ body }: { body(): Promise<unknown> }) => body(), "POST");
    const kernel = await boot({ plugins: [plugin], driver: makeDriver() });
    expect((await kernel.call("POST", "/echo", { a: 1 })).body).toEqual({ a: 1 });
    await kernel.close();
  });

  it("resolves services of plugins lazily and across plugins", async () => {
    const made: string[] = [];
    const one = createPlugin({
      id: "one",
      services: {
        "one.clock": () => {
          made.push("clock");
          return { time: "noon" };
        },
      },
    });
    const two = createPlugin({
      id: "two",
      requires: ["one"],
      setup({ use, routes }) {
        const handler = () => use<{ time: string }>("one.clock").time;
        routes.add({ method: "GET", path: "/time", action: "time", handler });
      },
    });
    const kernel = await boot({ plugins: [one, two], driver: makeDriver() });
    expect(made).toEqual([]);
    await kernel.call("GET", "/time");
    expect((await kernel.call("GET", "/time")).body).toBe("noon");
    expect(made).toEqual(["clock"]);
    await kernel.close();
  });

  it("names a service that is not registered", async () => {
    const plugin = createPlugin({ id: "asks", setup: ({ use }) => void use("nowhere") });
    await expect(boot({ plugins: [plugin], driver: makeDriver() })).rejects.toThrow('Service "nowhere" not found');
  });

  it("refuses a service id and a route that are taken", async () => {
    const twice = createPlugin({
      id: "twice",
      services: { a: () => 1 },
      setup({ provide, routes }) {
        provide("a", () => 2);
        for (const action of ["x", "y"]) routes.add({ method: "GET", path: "/same", action, handler: () => action });
      },
    });
    const booting = boot({ plugins: [twice], driver: makeDriver() });
    await expect(booting).rejects.toThrow('Service "a" is registered twice');
    await expect(booting).rejects.toThrow("collides");
  });

  it("shows each plugin the routes of all plugins, in order, once the app is set up", async () => {
    const adding = (id: string, names: readonly string[]) =>
      createPlugin({
        id,
        setup({ routes }) {
          for (const name of names)
            routes.add({ method: "get", path: `/${name}`, action: name, meta: { summary: name }, handler: () => name });
        },
      });
    const lister = createPlugin({
      id: "lister",
      setup: ({ routes, provide }) => provide("list", () => routes.list()),
      endpoints: {
        list: endpoint("/list", {
          rules: ["everyone"],
          handler: ({ scope }) =>
            scope.services
              .resolve<ReturnType<PluginContext["routes"]["list"]>>("list")
              .map(({ method, path, action, plugin, rules, meta }) => ({ method, path, action, plugin, rules, meta })),
        }),
      },
    });
    const plugins = [adding("before", ["b", "a"]), lister, adding("after", ["c"])];
    const kernel = await boot({ plugins, driver: makeDriver() });
    const added = (plugin: string, name: string) => {
      return { method: "GET", path: `/${name}`, action: name, plugin, meta: { summary: name } };
    };
    expect((await kernel.call("GET", "/list")).body).toEqual([
      added("before", "b"),
      added("before", "a"),
      { method: "GET", path: "/list", action: "list", plugin: "lister", rules: ["everyone"] },
      added("after", "c"),
    ]);
    await kernel.close();
  });

  it("throws the problems that a plugin reports together", async () => {
    const plugin = createPlugin({
      id: "picky",
      setup({ problem }) {
        problem("first is wrong");
        problem("second is wrong");
      },
    });
    const error = await boot({ plugins: [plugin], driver: makeDriver() }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).problems).toEqual(["first is wrong", "second is wrong"]);
  });

  it("runs the phases of a create in order, around the statement", async () => {
    const seen: string[] = [];
    const phases = [
      "authorize",
      "normalize",
      "validate",
      "protect",
      "execute",
      "reveal",
      "join",
      "redact",
      "committed",
    ] as const;
    const plugin = createPlugin({
      id: "watcher",
      setup({ hooks, routes }) {
        for (const phase of phases)
          hooks.on(`operation:${phase}`, (operation: Operation) => {
            if (phase === "authorize") operation.decision.allowed = true;
            if (operation.kind === "create") seen.push(`${phase} ${operation.records.length}`);
          });
        const handler = async ({ scope }: { scope: { run(input: unknown): Promise<Operation> } }) =>
          (await scope.run({ kind: "create", entity: "thing", data: { name: "n" } })).records[0]?.name;
        routes.add({ method: "POST", path: "/make", action: "make", handler: handler as never });
      },
    });
    const kernel = await boot({ plugins: [plugin], driver: makeDriver() });
    expect((await kernel.call("POST", "/make", {})).body).toBe("n");
    expect(seen).toEqual([
      "authorize 0",
      "normalize 0",
      "validate 0",
      "protect 0",
      "execute 1",
      "reveal 1",
      "join 1",
      "redact 1",
      "committed 1",
    ]);
    await kernel.close();
  });

  it("determines once which entities and kinds a hook applies to", async () => {
    const seen: string[] = [];
    const plugin = createPlugin({
      id: "choosy",
      setup({ hooks, routes }) {
        hooks.on("operation:reveal", (operation) => void seen.push(`${operation.entity.name} ${operation.kind}`), {
          appliesTo: (candidate, kind) => candidate.name === "note" && kind === "list",
        });
        const handler = async ({ scope }: { scope: { run(input: unknown): Promise<Operation> } }) => {
          for (const name of ["thing", "note"]) await scope.run({ kind: "list", entity: name });
          await scope.run({ kind: "count", entity: "note" });
        };
        routes.add({ method: "GET", path: "/look", action: "look", handler: handler as never });
      },
    });
    const kernel = await boot({ plugins: [plugin], driver: makeDriver() });
    await kernel.call("GET", "/look");
    expect(seen).toEqual(["note list"]);
    await kernel.close();
  });

  it("starts plugins with a connected driver and stops them in reverse order", async () => {
    const seen: string[] = [];
    const living = (id: string, requires: readonly string[] = []) =>
      createPlugin({
        id,
        requires,
        async start({ driver }: PluginContext) {
          seen.push(`start ${id} ${await driver.count("thing")}`);
        },
        stop: () => void seen.push(`stop ${id}`),
      });
    const kernel = await boot({ plugins: [living("a"), living("b", ["a"])], driver: makeDriver() });
    await kernel.close();
    expect(seen).toEqual(["start a 0", "start b 0", "stop b", "stop a"]);
  });

  it("registers hooks, services and endpoints that are declared as data", async () => {
    const seen: string[] = [];
    const plugin = createPlugin({
      id: "data-only",
      hooks: { "operation:reveal": () => void seen.push("reveal") },
      services: { greeting: () => "hello" },
      endpoints: {
        ping: endpoint("/ping", { rules: ["everyone"], handler: ({ scope }) => scope.services.resolve("greeting") }),
      },
    });
    const open = createPlugin({ id: "open", hooks: { "route:authorize": (ask) => void (ask.allowed = true) } });
    const kernel = await boot({ plugins: [plugin, open], driver: makeDriver() });
    expect((await kernel.call("GET", "/ping")).body).toBe("hello");
    expect(seen).toEqual([]);
    await kernel.close();
  });

  it("allows a plugin to wrap a route", async () => {
    const plugin = createPlugin({
      id: "around",
      hooks: {
        "route:authorize": (ask) => void (ask.allowed = true),
        "route:around"(call) {
          const next = call.respond;
          call.respond = async (scope) => ({ ...(await scope.transaction(next)), status: 202 });
        },
      },
      endpoints: { ping: endpoint("/ping", { handler: ({ scope }) => ({ within: scope.isTransaction }) }) },
    });
    const kernel = await boot({ plugins: [plugin], driver: makeDriver() });
    expect(await kernel.call("GET", "/ping")).toMatchObject({ status: 202, body: { within: true } });
    await kernel.close();
  });
});

describe("the record of the fake kernel", () => {
  const copier = createPlugin({
    id: "acme/copier",
    hooks: {
      "request:start": () => {},
      async "operation:committed"({ entity: { name }, scope }) {
        if (name === "thing") await scope.run({ kind: "create", entity: "note", data: { text: "copied" } });
      },
    },
    setup({ hooks, log }) {
      hooks.on("operation:execute", ({ entity: { name } }) => log.info(`executed on ${name}`));
    },
    endpoints: {
      add: endpoint("/add", {
        method: "POST",
        rules: ["everyone"],
        handler: async ({ scope }) => {
          await scope.run({ kind: "create", entity: thing, data: { name: "a" } });
        },
      }),
    },
  });

  it("has operations, statements, hooks and log lines, in order", async () => {
    const kernel = await createFakeKernel().withEntities(thing, note).use(copier);
    expect(kernel.recorded).toEqual({ operations: [], statements: [], hooks: [], logs: [], problems: [] });
    expect((await kernel.call("POST", "/add")).status).toBe(204);
    expect(kernel.recorded).toEqual({
      operations: ["create thing", "create note"],
      statements: ["insert thing", "insert note"],
      hooks: [
        "acme/copier request:start",
        "acme/copier operation:execute",
        "acme/copier operation:committed",
        "acme/copier operation:execute",
        "acme/copier operation:committed",
      ],
      logs: [expect.stringContaining("info executed on thing"), expect.stringContaining("info executed on note")],
      problems: [],
    });
    await kernel.close();
  });

  it("has statements as they reach the driver, after the plugins' wrappers", async () => {
    const doubling = createPlugin({
      id: "acme/doubling",
      wrapDriver: (inner) =>
        withMiddleware(inner, async (statement, next) => {
          if (statement.kind === "insert") await next({ kind: "count", entity: statement.entity, where: ALWAYS });
          return next(statement);
        }),
    });
    const kernel = await createFakeKernel().withEntities(thing).use(doubling);
    await kernel.operation({ kind: "create", entity: thing, data: { name: "a" } });
    expect(kernel.recorded.statements).toEqual(["count thing", "insert thing"]);
    await kernel.close();
  });

  it("has the problems of a start that was refused", async () => {
    const kernel = createFakeKernel();
    const odd = createPlugin({ id: "acme/odd", setup: ({ problem }) => problem("It is full") });
    await expect(kernel.use(odd)).rejects.toThrow("It is full");
    expect(kernel.recorded.problems).toEqual(["It is full"]);
  });
});
