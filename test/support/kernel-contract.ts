import { expect, it } from "vitest";
import { ConfigurationError, entity, string } from "../../src/entity/index.ts";
import {
  createPlugin,
  type Driver,
  endpoint,
  notFoundError,
  type Operation,
  type Plugin,
  type PluginContext,
  Reply,
  type User,
} from "../../src/kernel/index.ts";

/** What the suite needs of a kernel, real or fake. */
export interface KernelUnderTest {
  call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, unknown>>; readonly body: unknown }>;
  close(): Promise<void>;
}

/** Boots a kernel with plugins in order; everybody may do everything unless a plugin says otherwise. */
export type BootKernel = (options: {
  readonly plugins: readonly Plugin[];
  readonly driver: Driver;
  readonly user?: User;
}) => Promise<KernelUnderTest>;

export const thing = entity("thing", { name: string });
const note = entity("note", { text: string });
export const contractEntities = [thing, note];

/** One suite for the real and the fake kernel, so that plugin tests on the fake one stay honest. */
export function testKernelContract(makeDriver: () => Driver, boot: BootKernel): void {
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

  it("gives a handler decoded parameters and answers 200 with what it returns", async () => {
    const { status, body } = await answering(({ params }: { params: unknown }) => ({ params }));
    expect([status, body]).toEqual([200, { params: { id: "a b" } }]);
  });

  it("answers 204 for undefined, and what a Reply says", async () => {
    expect((await answering(() => undefined)).status).toBe(204);
    const { status, headers, body } = await answering(() => new Reply(201, [1], { location: "/x" }));
    expect([status, headers.location, body]).toEqual([201, "/x", [1]]);
  });

  it("turns thrown errors into replies, and says nothing about strangers", async () => {
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

  it("hands the body to whoever asks for it", async () => {
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
      setup({ services, routes }) {
        const handler = () => services.resolve<{ time: string }>("one.clock").time;
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

  it("names a service that nobody registered", async () => {
    const plugin = createPlugin({ id: "asks", setup: ({ services }) => void services.resolve("nowhere") });
    await expect(boot({ plugins: [plugin], driver: makeDriver() })).rejects.toThrow('Service "nowhere" not found');
  });

  it("refuses a service id and a route that are taken", async () => {
    const twice = createPlugin({
      id: "twice",
      services: { a: () => 1 },
      setup({ services, routes }) {
        services.register("a", () => 2);
        for (const action of ["x", "y"]) routes.add({ method: "GET", path: "/same", action, handler: () => action });
      },
    });
    const booting = boot({ plugins: [twice], driver: makeDriver() });
    await expect(booting).rejects.toThrow('Service "a" is registered twice');
    await expect(booting).rejects.toThrow("collides");
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
            seen.push(`${phase} ${operation.records.length}`);
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

  it("asks once which entities and kinds a hook applies to", async () => {
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
}
