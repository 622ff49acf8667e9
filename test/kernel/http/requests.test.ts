import { describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { entity, json, string } from "../../../src/entity/index.ts";
import {
  type App,
  type AppOptions,
  createApp,
  createPlugin,
  endpoint,
  type Plugin,
  type RouteContext,
} from "../../../src/gate/index.ts";
import { AuthenticationError, type KernelRequest, Reply, UnavailableError } from "../../../src/kernel/index.ts";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";
import { deferred } from "../../support/deferred.ts";
import { thenable } from "../../support/thenable.ts";

const thing = entity("thing", { name: string, extra: json.optional() });

const open = createPlugin({
  id: "open-door",
  hooks: {
    "route:authorize": (ask) => void (ask.allowed = ask.rules.includes("everyone")),
    "operation:authorize": (operation) => void (operation.decision.allowed = true),
  },
});

function routes(handlers: Readonly<Record<string, (context: RouteContext) => unknown>>): Plugin {
  return createPlugin({
    id: "routes",
    setup(context) {
      const definition = context.entities.get("thing");
      for (const [key, handler] of Object.entries(handlers)) {
        const [method = "", path = ""] = key.split(" ");
        context.routes.add({ method, path, action: key, handler, entity: definition });
      }
    },
  });
}

async function boot(handlers: Parameters<typeof routes>[0], options: Partial<AppOptions> = {}): Promise<App> {
  const { plugins = [], ...rest } = options;
  const kernel = createApp({
    entities: [thing],
    driver: memoryDriver(),
    logger: recordingLogger(),
    plugins: [open, routes(handlers), ...plugins],
    ...rest,
  });
  await kernel.ready;
  return kernel;
}

async function send(kernel: App, method: string, url: string, init: Partial<KernelRequest> = {}) {
  const reply = await kernel.handle({ method, url, headers: {}, ...init });
  return { ...reply, json: typeof reply.body === "string" ? JSON.parse(reply.body) : undefined };
}

const jsonHeaders = { "content-type": "application/json" };
const bytes = (text: string) => ({ kind: "bytes", bytes: new TextEncoder().encode(text) }) as const;

describe("request handling", () => {
  it("serves entity routes below the prefix and endpoints from the root", async () => {
    const ping = createPlugin({
      id: "ping",
      endpoints: { ping: endpoint("/ping", { rules: ["everyone"], handler: () => "pong" }) },
    });
    const kernel = await boot({ "GET /things": () => [] }, { plugins: [ping] });
    expect((await send(kernel, "GET", "/api/things")).status).toBe(200);
    expect((await send(kernel, "GET", "/things")).status).toBe(404);
    expect((await send(kernel, "GET", "/ping")).json).toBe("pong");
    expect(kernel.owns("/api/anything")).toBe(true);
    expect(kernel.owns("/ping?x=1")).toBe(true);
    expect(kernel.owns("/index.html")).toBe(false);
    expect(kernel.owns("/api/%00")).toBe(true);
    expect(kernel.owns("/a/%00")).toBe(false);
    await kernel.close();
  });

  it("names the right path if an entity is requested by another form of its name", async () => {
    const orderItem = entity("orderItem", { name: string });
    const list = { method: "GET", path: "/order-items", action: "list", entity: orderItem.build(), handler: () => [] };
    const items = createPlugin({ id: "items", setup: ({ routes: own }) => own.add(list as never) });
    const kernel = await boot({}, { plugins: [items], entities: [thing, orderItem] });
    const told = async (url: string, base?: string) =>
      (await send(kernel, "GET", url, base === undefined ? {} : { base })).json.message;
    for (const path of ["/api/orderItems", "/api/orderItem/7", "/api/order-item", "/api/OrderItems?_limit=1"])
      expect(await told(path)).toBe("Not found. Did you mean /api/order-items?");
    expect(await told("/orderItems", "/v1")).toBe("Not found. Did you mean /v1/order-items?");
    for (const path of ["/api/orders", "/orderItems", "/api/order-items/7"]) expect(await told(path)).toBe("Not found");
    await kernel.close();
  });

  it("uses a mount path in place of the prefix, in links too", async () => {
    const kernel = await boot({ "GET /things": ({ root }) => ({ root }) });
    expect((await send(kernel, "GET", "/things", { base: "/v1" })).json).toEqual({ root: "/v1" });
    expect((await send(kernel, "GET", "/api/things")).json).toEqual({ root: "/api" });
    expect(kernel.owns("/whatever", "/v1")).toBe(true);
    await kernel.close();
  });

  it("sends the same headers with every response", async () => {
    const kernel = await boot({ "GET /things": () => [] });
    for (const url of ["/api/things", "/nowhere"]) {
      const { headers } = await send(kernel, "GET", url);
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "cache-control": "private, no-store",
        vary: "Authorization, Cookie, Origin",
        "content-type": "application/json; charset=utf-8",
      });
      expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    }
    await kernel.close();
  });

  it("handles HEAD as GET without body, OPTIONS with Allow, other methods with 405", async () => {
    const kernel = await boot({ "GET /things": () => [1, 2], "POST /things": () => undefined });
    const head = await send(kernel, "HEAD", "/api/things");
    expect([head.status, head.body, head.headers["content-length"]]).toEqual([200, null, "5"]);
    const options = await send(kernel, "OPTIONS", "/api/things");
    expect([options.status, options.headers.allow]).toEqual([204, "GET, POST, HEAD, OPTIONS"]);
    const patch = await send(kernel, "PATCH", "/api/things");
    expect([patch.status, patch.headers.allow, patch.json.code]).toEqual([
      405,
      "GET, POST, HEAD, OPTIONS",
      "METHOD_NOT_ALLOWED",
    ]);
    expect((await send(kernel, "OPTIONS", "/nowhere")).status).toBe(404);
    await kernel.close();
  });

  it("ignores method overrides", async () => {
    const kernel = await boot({ "GET /things": () => "read", "DELETE /things": () => "deleted" });
    const reply = await send(kernel, "GET", "/api/things?_method=DELETE", {
      headers: { "x-http-method-override": "DELETE" },
    });
    expect(reply.json).toBe("read");
    await kernel.close();
  });

  it("responds with problem+json on request", async () => {
    const kernel = await boot({});
    const { headers, json: body } = await send(kernel, "GET", "/nowhere?x=1", {
      headers: { accept: "application/problem+json" },
    });
    expect(headers["content-type"]).toBe("application/problem+json");
    expect(body).toMatchObject({ instance: "/nowhere", status: 404, code: "NOT_FOUND" });
    await kernel.close();
  });

  it.each([
    ["application/json, application/problem+json;q=0.5", "application/problem+json"],
    ["Application/Problem+JSON", "application/problem+json"],
    ["application/json, application/problem+json;q=0", "application/json; charset=utf-8"],
    ["application/problem+json-seq", "application/json; charset=utf-8"],
    ["*/*", "application/json; charset=utf-8"],
    [";;,q=,application", "application/json; charset=utf-8"],
  ])("responds to an error with Accept: %s as %s", async (accept, type) => {
    const kernel = await boot({});
    const { headers } = await send(kernel, "GET", "/nowhere", { headers: { accept } });
    expect(headers["content-type"]).toBe(type);
    await kernel.close();
  });

  it("passes streams, bytes and responses through", async () => {
    async function* pieces() {
      yield "a";
      yield new TextEncoder().encode("b");
    }
    const kernel = await boot({
      "GET /stream": () => new Reply(200, pieces(), { "content-type": "text/plain" }),
      "GET /bytes": () => new Reply(200, new Uint8Array([1, 2])),
      "GET /response": () => {
        const response = new Response("hi", { status: 202, headers: { "x-own": "1" } });
        response.headers.append("set-cookie", "a=1");
        response.headers.append("set-cookie", "b=2");
        return response;
      },
    });
    const get = (path: string) => kernel.fetch(new Request(`http://host.invalid/api${path}`));
    expect(await (await get("/stream")).text()).toBe("ab");
    expect([...new Uint8Array(await (await get("/bytes")).arrayBuffer())]).toEqual([1, 2]);
    const response = await get("/response");
    expect([response.status, await response.text(), response.headers.getSetCookie()]).toEqual([
      202,
      "hi",
      ["a=1", "b=2"],
    ]);
    await kernel.close();
  });

  it("stops the source of a stream that is no longer read", async () => {
    let stopped = false;
    async function* endless() {
      try {
        for (;;) yield "x";
      } finally {
        stopped = true;
      }
    }
    const kernel = await boot({ "GET /stream": () => new Reply(200, endless()) });
    const response = await kernel.fetch(new Request("http://host.invalid/api/stream"));
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(stopped).toBe(true);
    await kernel.close();
  });

  it("runs request hooks around the handler, which may refuse and add headers", async () => {
    const seen: string[] = [];
    const watcher = createPlugin({
      id: "watcher",
      hooks: {
        "request:start": ({ route, params }) => {
          seen.push(`start ${route.action} ${JSON.stringify(params)}`);
          if (params.id === "bad") throw new AuthenticationError();
        },
        "request:end": async ({ response }) => {
          response.headers["x-seen"] = "yes";
        },
      },
    });
    const kernel = await boot({ "GET /things/:id": () => "ok" }, { plugins: [watcher] });
    expect((await send(kernel, "GET", "/api/things/1")).headers["x-seen"]).toBe("yes");
    expect((await send(kernel, "GET", "/api/things/bad")).status).toBe(401);
    expect(seen).toEqual(['start GET /things/:id {"id":"1"}', 'start GET /things/:id {"id":"bad"}']);
    await kernel.close();
  });

  it("runs request:end once for every response, with the route when one matched", async () => {
    const seen: string[] = [];
    const watcher = createPlugin({
      id: "watcher",
      hooks: {
        "request:end": ({ request, requestId, route, params, response }) => {
          const known = response.headers["x-request-id"] === requestId;
          seen.push(`${request.method} ${response.status} ${route?.action} ${JSON.stringify(params)} ${known}`);
          response.headers["x-seen"] = "yes";
        },
      },
    });
    const fails = () => {
      throw new AuthenticationError();
    };
    const handlers = { "GET /things/:id": () => "ok", "POST /fails": fails, "GET /none": () => undefined };
    const kernel = await boot(handlers, { plugins: [watcher] });
    const calls = [
      "GET /api/things/1",
      "HEAD /api/things/1",
      "POST /api/fails",
      "GET /api/none",
      "OPTIONS /api/fails",
      "PATCH /api/fails",
      "GET /nowhere",
      "GET /api/%00",
    ];
    for (const call of calls) {
      const [method = "", url = ""] = call.split(" ");
      expect((await send(kernel, method, url)).headers["x-seen"]).toBe("yes");
    }
    await kernel.close();
    await send(kernel, "GET", "/api/none");
    expect(seen).toEqual([
      'GET 200 GET /things/:id {"id":"1"} true',
      'HEAD 200 GET /things/:id {"id":"1"} true',
      "POST 401 POST /fails {} true",
      "GET 204 GET /none {} true",
      "OPTIONS 204 undefined undefined true",
      "PATCH 405 undefined undefined true",
      "GET 404 undefined undefined true",
      "GET 400 undefined undefined true",
      "GET 503 undefined undefined true",
    ]);
  });

  it("keeps an error response if request:end fails, and makes others that error", async () => {
    const logger = recordingLogger();
    let runs = 0;
    let cancelled = false;
    const body = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: true, value: undefined }) as const,
        return: async () => {
          cancelled = true;
          throw new TypeError("already gone");
        },
      }),
    };
    const broken = createPlugin({
      id: "broken",
      hooks: {
        "request:end": () => {
          runs++;
          throw new TypeError("a bug");
        },
      },
    });
    const kernel = await boot({ "GET /stream": () => new Reply(200, body) }, { plugins: [broken], logger });
    expect((await send(kernel, "GET", "/nowhere")).status).toBe(404);
    expect(logger.lines.filter((line) => line.startsWith("error A request:end hook failed"))).toHaveLength(1);
    expect((await send(kernel, "GET", "/api/stream")).status).toBe(500);
    expect([runs, cancelled]).toEqual([2, true]);
    await kernel.close();
  });

  it("awaits hooks and callers that are thenables, not promises", async () => {
    const seen: string[] = [];
    const later = (name: string) => () =>
      thenable<void>((resolve) => void setImmediate(() => resolve(void seen.push(name))));
    const plugins = ["first", "second"].map((id) => createPlugin({ id, hooks: { "request:start": later(id) } }));
    const getUser = () => thenable<unknown>((resolve) => resolve({ id: "ann" }));
    const handler = ({ scope }: RouteContext) => [...seen, scope.principal.user?.id];
    const kernel = await boot({ "GET /who": handler }, { plugins, getUser });
    expect((await send(kernel, "GET", "/api/who")).json).toEqual(["first", "second", "ann"]);
    await kernel.close();
  });

  it("closes scoped services at the end of a request, of a stream and of a transaction", async () => {
    const log: string[] = [];
    const use = <T>({ services }: RouteContext["scope"], result: T): T => {
      services.resolve("unit");
      return result;
    };
    async function* pieces(context: RouteContext) {
      use(context.scope, undefined);
      log.push("piece");
      yield "a";
    }
    const handlers = {
      "GET /plain": ({ scope }: RouteContext) => use(scope, "ok"),
      "GET /none": () => "ok",
      "GET /stream": (context: RouteContext) => use(context.scope, new Reply(200, pieces(context))),
      "GET /fails": (context: RouteContext) => {
        use(context.scope, undefined);
        throw new AuthenticationError();
      },
      "GET /transaction": async ({ scope }: RouteContext) => {
        await scope.transaction(async (inner) => use(inner, undefined));
        log.push("after transaction");
      },
    };
    const kernel = await boot(handlers);
    kernel.registerService("unit", () => ({ close: () => void log.push("closed") }), { lifecycle: "scoped" });
    for (const [path, expected] of [
      ["plain", ["closed"]],
      ["none", []],
      ["fails", ["closed"]],
      ["transaction", ["closed", "after transaction"]],
    ] as const) {
      log.length = 0;
      await send(kernel, "GET", `/api/${path}`);
      expect([path, ...log]).toEqual([path, ...expected]);
    }
    log.length = 0;
    const get = (method: string) => kernel.fetch(new Request("http://host.invalid/api/stream", { method }));
    expect(await (await get("GET")).text()).toBe("a");
    expect(log).toEqual(["piece", "closed"]);
    await get("HEAD");
    await new Promise((resolve) => setImmediate(resolve));
    expect(log).toEqual(["piece", "closed", "closed"]);
    await kernel.close();
  });

  it("closes scoped services when a stream fails, and responds even if a close fails", async () => {
    const logger = recordingLogger();
    // biome-ignore lint/correctness/useYield: it fails before its first piece
    async function* broken() {
      throw new TypeError("cut");
    }
    const handlers = {
      "GET /stream": ({ scope }: RouteContext) => scope.services.resolve("unit") && new Reply(200, broken()),
      "GET /plain": ({ scope }: RouteContext) => scope.services.resolve("unit") && "ok",
    };
    const kernel = await boot(handlers, { logger });
    const fails = () => {
      throw new TypeError("stuck");
    };
    kernel.registerService("unit", () => ({ close: fails }), { lifecycle: "scoped" });
    expect((await send(kernel, "GET", "/api/plain")).status).toBe(200);
    const response = await kernel.fetch(new Request("http://host.invalid/api/stream"));
    await expect(response.text()).rejects.toThrow("The response broke off"); // the cause is in the log
    expect(logger.lines.filter((line) => line.startsWith("error A response could not be sent"))).toHaveLength(1);
    expect(logger.lines.filter((line) => line.startsWith("error Services of a request"))).toHaveLength(2);
    await kernel.close();
  });

  it("passes Keelson's own request, the caller's services and the limits to handlers", async () => {
    const look = ({ scope }: RouteContext) => ({
      raw: scope.exchange?.request.raw,
      has: scope.services.has("clock"),
      clock: scope.services.resolve("clock"),
      id: scope.services.resolve("requestId") === scope.requestId,
      limit: scope.app.limits.pageSize,
    });
    const asks = createPlugin({
      id: "asks",
      setup: ({ has, problem }) => void (has("clock") || problem("no clock")),
    });
    const kernel = await boot({ "GET /look": look }, { services: { clock: () => "noon" }, plugins: [asks] });
    const { json: body } = await send(kernel, "GET", "/api/look", { raw: { native: true } });
    expect(body).toEqual({ raw: { native: true }, has: true, clock: "noon", id: true, limit: 100 });
    await kernel.close();
  });

  it("ends a request that takes too long with 503 and aborts its signal", async () => {
    let aborted = false;
    const slow = ({ scope }: RouteContext) =>
      new Promise(() => scope.exchange?.signal?.addEventListener("abort", () => void (aborted = true)));
    const kernel = await boot({ "GET /slow": slow }, { limits: { requestMs: 1, hookMs: 20 } });
    expect((await send(kernel, "GET", "/api/slow")).status).toBe(503);
    expect(aborted).toBe(true);
    await kernel.close();
  });

  it("passes an already aborted signal to code that asks after the deadline", async () => {
    const signal = deferred<boolean | undefined>();
    const late = async ({ scope }: RouteContext) => {
      await release.promise;
      signal.resolve(scope.exchange?.signal?.aborted);
    };
    const release = deferred<void>();
    const kernel = await boot({ "GET /late": late }, { limits: { requestMs: 1 } });
    expect((await send(kernel, "GET", "/api/late")).status).toBe(503);
    release.resolve();
    expect(await signal.promise).toBe(true);
    await kernel.close();
  });

  it("waits on close for work past its deadline, and cancels the stream it returns", async () => {
    const release = deferred<void>();
    const events: string[] = [];
    async function* pieces() {
      yield "late";
    }
    const body = Object.assign(pieces(), {
      return: async () => ({ done: events.push("cancelled") > 0, value: undefined }),
    });
    const slow = async () => {
      await release.promise;
      events.push("worked");
      return new Reply(200, body);
    };
    const kernel = await boot({ "GET /slow": slow }, { limits: { requestMs: 1 } });
    expect((await send(kernel, "GET", "/api/slow")).status).toBe(503);
    const closing = kernel.close().then(() => events.push("closed"));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(events).toEqual([]);
    release.resolve();
    await closing;
    expect(events).toEqual(["worked", "cancelled", "closed"]);
  });

  it("stops waiting on close for endless work hookMs after its deadline", async () => {
    const kernel = await boot({ "GET /stuck": () => new Promise(() => {}) }, { limits: { requestMs: 1, hookMs: 1 } });
    expect((await send(kernel, "GET", "/api/stuck")).status).toBe(503);
    await expect(kernel.close()).resolves.toBeUndefined();
  });

  it("limits the time of a hook that never ends", async () => {
    const stuck = createPlugin({ id: "stuck", hooks: { "request:start": () => new Promise<void>(() => {}) } });
    const kernel = await boot({ "GET /things": () => [] }, { plugins: [stuck], limits: { hookMs: 5 } });
    const { status, json: body } = await send(kernel, "GET", "/api/things");
    expect([status, body.code]).toEqual([503, "UNAVAILABLE"]);
    await kernel.close();
  });

  it("finishes pending requests when it closes, and refuses later ones", async () => {
    let release: () => void = () => {};
    const kernel = await boot({ "GET /slow": () => new Promise((resolve) => (release = () => resolve("done"))) });
    const inFlight = send(kernel, "GET", "/api/slow");
    await new Promise((resolve) => setImmediate(resolve));
    const closing = kernel.close();
    expect((await send(kernel, "GET", "/api/slow")).status).toBe(503);
    release();
    expect((await inFlight).json).toBe("done");
    await closing;
  });
});

describe("request bodies", () => {
  const echo = { "POST /echo": ({ body }: RouteContext) => body() };
  async function* chunks(...parts: string[]) {
    for (const part of parts) yield new TextEncoder().encode(part);
  }

  it("are read from bytes, text, streams and parsed values alike", async () => {
    const kernel = await boot(echo);
    const bodies = [
      bytes('{"a":1}'),
      { kind: "text", text: '{"a":1}' },
      { kind: "stream", stream: chunks('{"a"', ":1}") },
      { kind: "parsed", value: { a: 1 } },
    ] as const;
    for (const body of bodies)
      expect((await send(kernel, "POST", "/api/echo", { headers: jsonHeaders, body })).json).toEqual({ a: 1 });
    await kernel.close();
  });

  it.each([
    ["no content type", {}, bytes("{}"), 415],
    ["plain text", { "content-type": "text/plain" }, bytes("{}"), 415],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }, { kind: "parsed", value: { a: "1" } }, 415],
    ["compressed bytes", { ...jsonHeaders, "content-encoding": "gzip" }, bytes("{}"), 415],
    ["a vendor's JSON", { "content-type": "application/vnd.api+json" }, bytes("{}"), 200],
    ["a charset", { "content-type": "application/json; charset=utf-8" }, bytes("{}"), 200],
    ["an identity encoding", { ...jsonHeaders, "content-encoding": "identity" }, bytes("{}"), 200],
    ["nothing", jsonHeaders, undefined, 400],
    ["white space", jsonHeaders, bytes("  "), 400],
    ["broken JSON", jsonHeaders, bytes('{"a":'), 400],
    ["invalid UTF-8", jsonHeaders, { kind: "bytes", bytes: new Uint8Array([0x22, 0xff, 0x22]) }, 400],
    ["__proto__", jsonHeaders, bytes('{"a":{"__proto__":{}}}'), 400],
    ["a parsed __proto__", jsonHeaders, { kind: "parsed", value: JSON.parse('{"__proto__":1}') }, 400],
    ["an announced giant", { ...jsonHeaders, "content-length": "1048577" }, bytes("{}"), 413],
    ["a giant", jsonHeaders, bytes(`"${"x".repeat(1_048_576)}"`), 413],
    [
      "a streamed giant",
      jsonHeaders,
      { kind: "stream", stream: chunks("x".repeat(1_000_000), "x".repeat(100_000)) },
      413,
    ],
    ["a giant text", jsonHeaders, { kind: "text", text: "x".repeat(1_048_577) }, 413],
    ["hostile depth", jsonHeaders, bytes("[".repeat(100_000) + "]".repeat(100_000)), 400],
    ["twenty levels", jsonHeaders, bytes("[".repeat(20) + "]".repeat(20)), 200],
    ["twenty-one levels", jsonHeaders, bytes("[".repeat(21) + "]".repeat(21)), 400],
  ] as const)("with %s get the right status", async (_title, headers, body, status) => {
    const kernel = await boot(echo);
    const reply = await send(kernel, "POST", "/api/echo", { headers, body });
    expect(reply.status).toBe(status);
    if (status !== 200) expect(reply.json).toMatchObject({ status, requestId: reply.headers["x-request-id"] });
    await kernel.close();
  });

  it("are read once, however often a handler reads them", async () => {
    const kernel = await boot({ "POST /echo": async ({ body }) => [await body(), await body()] });
    const body = { kind: "stream", stream: chunks("1") } as const;
    expect((await send(kernel, "POST", "/api/echo", { headers: jsonHeaders, body })).json).toEqual([1, 1]);
    await kernel.close();
  });
});

describe("callers", () => {
  const who = {
    "GET /who": ({ scope }: RouteContext) => ({ kind: scope.principal.kind, admin: scope.principal.isAdmin }),
  };
  const ask = async (options: Partial<AppOptions>, init: Partial<KernelRequest> = {}) => {
    const kernel = await boot(who, options);
    const reply = await send(kernel, "GET", "/api/who", init);
    await kernel.close();
    return reply;
  };

  it("are anonymous unless they are identified", async () => {
    expect((await ask({})).json).toEqual({ kind: "anonymous", admin: false });
    expect((await ask({ getUser: () => null })).json).toEqual({ kind: "anonymous", admin: false });
    expect((await ask({ getUser: async () => undefined })).json).toEqual({ kind: "anonymous", admin: false });
  });

  it("are identified by headers", async () => {
    const getUser = ({ headers }: { headers: { get(name: string): string | null } }) =>
      headers.get("Authorization") === "Bearer t" && headers.get("x-two") === "a, b" ? { id: "u1" } : null;
    const headers = { authorization: "Bearer t", "x-two": ["a", "b"] };
    expect((await ask({ getUser: getUser as never }, { headers })).json).toEqual({ kind: "user", admin: false });
  });

  it.each([
    [{ id: "u", role: "admin" }, true],
    [{ id: "u", isAdmin: true }, true],
    [{ id: "u", roles: ["x", "admin"] }, true],
    [{ id: "u", role: "user", roles: "admin" }, false],
    [{ id: "u", isAdmin: "true" }, false],
  ])("%j is an admin: %j", async (user, admin) => {
    expect((await ask({ getUser: () => user })).json.admin).toBe(admin);
  });

  it("are identified with the host's own request if configured", async () => {
    const getUser = ({ raw }: { raw: unknown }) => (raw as { session: unknown }).session;
    const raw = { session: { id: "ann" } };
    expect((await ask({ getUser: getUser as never }, { raw })).json.kind).toBe("user");
  });

  it("are admins as the app defines it, and not when its definition fails", async () => {
    const getUser = () => ({ id: "u", level: 9 });
    expect((await ask({ getUser, isAdmin: (user) => user.level === 9 })).json.admin).toBe(true);
    const fails = () => {
      throw new TypeError("no");
    };
    expect((await ask({ getUser, isAdmin: fails })).json.admin).toBe(false);
  });

  it.each([
    { id: { not: "x" } },
    { id: ["a"] },
    { id: "" },
    { id: Number.NaN },
    { id: 5 },
    {},
    "ann",
    { id: "a".repeat(129) },
    { id: "a\u0000" },
    { id: "\ud800" },
  ])("with the invalid identity %j are refused", async (user) => {
    const { status, json: body } = await ask({ getUser: () => user });
    expect([status, body.code]).toEqual([401, "UNAUTHENTICATED"]);
  });

  it("are refused, not anonymous, if authentication fails", async () => {
    const logger = recordingLogger();
    const down = async () => {
      throw new TypeError("session store at 10.0.0.1 is down");
    };
    const { status, headers, body } = await ask({ getUser: down, logger, production: true });
    expect([status, headers["retry-after"]]).toEqual([503, "2"]);
    expect(`${body}${logger.lines.join()}`).not.toContain("10.0.0.1");
    expect((await ask({ getUser: () => new Promise(() => {}), limits: { hookMs: 5 } })).status).toBe(503);
  });

  it("are refused by the app's own error", async () => {
    const getUser = () => {
      throw new AuthenticationError("The token has expired");
    };
    expect((await ask({ getUser })).json).toMatchObject({ status: 401, message: "The token has expired" });
  });

  it("are identified by the adapter's callback, which gets the host's own request", async () => {
    const raw = { session: "s1" };
    const getUser = (request: typeof raw) => (request.session === "s1" ? { id: "u", role: "admin" } : null);
    const options = { getUser: () => ({ id: "someone-else" }) };
    expect((await ask(options, { raw, getUser: getUser as never })).json.admin).toBe(true);
  });
});

describe("plugin endpoints", () => {
  it("without rules deny all callers", async () => {
    const plugin = createPlugin({
      id: "closed",
      endpoints: { secret: endpoint("/secret", { handler: () => "leak" }) },
    });
    const anonymous = await boot({}, { plugins: [plugin] });
    expect((await send(anonymous, "GET", "/secret")).status).toBe(401);
    const admin = await boot({}, { plugins: [plugin], getUser: () => ({ id: "u", role: "admin" }) });
    expect((await send(admin, "GET", "/secret")).status).toBe(403);
    await Promise.all([anonymous.close(), admin.close()]);
  });
});

describe("a caller who has disconnected", () => {
  it.each([
    [
      "finds nothing in the log of errors for what was given up for that",
      new UnavailableError("The request is over"),
      0,
    ],
    ["finds other errors there all the same", new Error("broken"), 1],
  ])("%s", async (_, error, lines) => {
    const logger = recordingLogger();
    const gone = {
      "GET /gone": () => {
        throw error;
      },
    };
    const kernel = await boot(gone, { logger });
    await send(kernel, "GET", "/api/gone", { signal: AbortSignal.abort() });
    expect(logger.lines.filter((line) => line.startsWith("error"))).toHaveLength(lines);
    await send(kernel, "GET", "/api/gone");
    expect(logger.lines.filter((line) => line.startsWith("error"))).toHaveLength(lines + 1);
  });
});
