import { entity, keelson, memoryDriver, noopLogger, Reply, string } from "keelson";
import { createPlugin, endpoint, type Plugin, type PluginContext } from "keelson/plugin";
import { recordingLogger } from "keelson/testing";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import { type RunningApp, request, startApp } from "../../support/http.ts";
import { openPage } from "../../support/page.ts";

const order = entity("order", { title: string }).rules({ read: ["everyone"], create: ["everyone"] });
const log = recordingLogger();
let stopped: AbortSignal | undefined;

const doors = createPlugin({
  id: "acme/doors",
  endpoints: {
    file: endpoint("/files/:path+", { rules: ["everyone"], handler: ({ params }) => params }),
    plan: endpoint("/files/plan", { rules: ["everyone"], handler: () => "the plan" }),
    one: endpoint("/things/:id", { method: "POST", rules: ["everyone"], handler: ({ params }) => params }),
    form: endpoint("/forms", {
      method: "POST",
      rules: ["everyone"],
      body: { as: "multipart" },
      async handler({ body }) {
        const form = await body();
        expectTypeOf(form).toEqualTypeOf<FormData>();
        return Object.fromEntries([...form].map(([name, value]) => [name, typeof value]));
      },
    }),
    faulty: endpoint("/faulty/:what", {
      rules: ["admin"],
      errorFormat({ status }) {
        if (status === 403) throw new RangeError("No format");
        return { type: "text/x-fault", body: `fault ${status}` };
      },
      handler: () => ({}),
    }),
    endless: endpoint("/endless", {
      rules: ["everyone"],
      handler: () =>
        Reply.stream(async function* (signal) {
          stopped = signal;
          yield "tick";
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        }),
    }),
  },
  setup({ routes, entities }) {
    const shared = { entity: entities.get("order"), action: "verb", rules: ["everyone"] } as const;
    routes.add({ ...shared, method: "POST", path: "/orders/:id:archive", handler: ({ params }) => params });
    routes.add({ ...shared, method: "POST", path: "/orders:import", handler: () => ({ imported: true }) });
  },
});
/** Records the inputs of routes, and marks their responses. */
const timing = createPlugin({
  id: "acme/timing",
  before: ["crud"],
  setup({ routes }) {
    routes.onRoute(({ action, handler, meta }) => ({
      meta: { ...meta, timed: true },
      async handler(call) {
        const result = await handler(call);
        return action === "verb" ? { ...(result as object), timed: call.route.meta?.timed } : result;
      },
    }));
    routes.onRoute(({ method }) => (method === "DELETE" ? { timeout: 5 } : undefined));
  },
});

describe("paths, bodies and errors of routes", () => {
  let app: RunningApp;
  let api: ReturnType<typeof start>;
  const start = () =>
    keelson({
      entities: [order],
      driver: memoryDriver(),
      plugins: [doors, timing],
      logger: log,
      getUser: ({ headers }) => (headers.get("authorization") === null ? null : { id: "ann" }),
    });
  beforeAll(async () => {
    api = start();
    app = await startApp(api);
  });
  afterAll(() => app.close());
  const ask = async (method: string, path: string, body?: unknown) => {
    const { status, json } = await request(app.url, method, path, body === undefined ? {} : { body });
    return status === 200 ? json : status;
  };

  it("give a handler the rest of a path, and prefer named routes", async () => {
    expect(await ask("GET", "/files/a/b%20c/d.txt")).toEqual({ path: "a/b c/d.txt" });
    expect(await ask("GET", "/files/a")).toEqual({ path: "a" });
    expect(await ask("GET", "/files/plan")).toBe("the plan");
    expect(await ask("GET", "/files")).toBe(404);
    expect(await ask("GET", "/files/a%2Fb")).toBe(400);
  });

  it("accept a verb after a parameter or a name, only if it is not escaped", async () => {
    expect(await ask("POST", "/api/orders/a:b:archive")).toMatchObject({ id: "a:b" });
    expect(await ask("POST", "/api/orders:import")).toMatchObject({ imported: true });
    expect(await ask("POST", "/api/orders/a%3Aarchive")).toBe(405);
    expect(await ask("POST", "/api/orders/:archive")).toBe(405);
    expect(await ask("POST", "/things/x:archive")).toEqual({ id: "x:archive" });
  });

  it("are documented with their paths", async () => {
    const { paths } = (await ask("GET", "/openapi.json")) as { paths: object };
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(["/files/{path}", "/api/orders/{id}:archive", "/api/orders:import"]),
    );
    expect(paths).toMatchObject({ "/forms": { post: { requestBody: { content: { "multipart/form-data": {} } } } } });
  });

  it("read a form of a hundred parts, and refuse more", async () => {
    const send = async (parts: number): Promise<number> => {
      const body = new FormData();
      for (let i = 0; i < parts; i++) body.append(`field ${i}`, "x");
      return (await fetch(`${app.url}/forms`, { method: "POST", body })).status;
    };
    expect([await send(100), await send(101)]).toEqual([200, 400]);
  });

  it("show an error in the usual format if the route's own format fails, and log that", async () => {
    const anonymous = await fetch(`${app.url}/faulty/x`);
    expect([anonymous.status, await anonymous.text()]).toEqual([401, "fault 401"]);
    const ann = await fetch(`${app.url}/faulty/x`, { headers: { authorization: "ann" } });
    expect([ann.status, await ann.json()]).toMatchObject([403, { code: "FORBIDDEN" }]);
    expect(log.lines.join("\n")).toMatch(/An error format failed.*acme\/doors.*RangeError/);
  });

  it("are changed by onRoute before they are served, also those of later plugins", async () => {
    expect(await ask("POST", "/api/orders:import")).toEqual({ imported: true, timed: true });
    expect(await ask("GET", "/files/plan")).toBe("the plan");
  });

  it("end a stream whose client has disconnected", async () => {
    const leave = new AbortController();
    const response = await fetch(`${app.url}/endless`, { signal: leave.signal });
    expect(new TextDecoder().decode((await response.body?.getReader().read())?.value)).toBe("tick");
    expect(stopped?.aborted).toBe(false);
    leave.abort();
    await expect.poll(() => stopped?.aborted).toBe(true);
  });
});

describe("the uploads of the guide", () => {
  it("accept bytes and forms from callers, and stream until the app closes", async () => {
    const page = openPage("guides/write-a-plugin");
    const { uploads } = await page.load<{ uploads: Plugin }>("uploads.ts");
    const api = keelson({
      entities: [],
      driver: memoryDriver(),
      plugins: [uploads],
      logger: noopLogger,
      getUser: ({ headers }) => (headers.get("authorization") === null ? null : { id: "ann" }),
    });
    const { url, close } = await startApp(api);
    const headers = { authorization: "ann" };
    const form = new FormData();
    form.set("file", new File(["12345"], "five.txt"));
    expect((await fetch(`${url}/upload-forms`, { method: "POST", body: form })).status).toBe(401);
    const sized = await fetch(`${url}/upload-forms`, { method: "POST", body: form, headers });
    expect(await sized.json()).toEqual({ size: 5 });
    expect((await fetch(`${url}/uploads/a/b.txt`, { method: "PUT", body: "bytes", headers })).status).toBe(204);
    const reader = (await fetch(`${url}/ticks`)).body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toMatch(/^data: \d+/);
    await close();
    page.remove();
  });
});

describe("an invalid route", () => {
  const start = (setup: (context: PluginContext) => void) => (): unknown =>
    keelson({
      entities: [order],
      driver: memoryDriver(),
      logger: noopLogger,
      plugins: [createPlugin({ id: "acme/one", setup })],
    });
  const add =
    (path: string, more: object = {}) =>
    ({ routes }: PluginContext): void =>
      routes.add({ method: "GET", path, action: "x", rules: [], handler: () => ({}), ...more });

  it.each(["/files/:path+/more", "/files/x+", "/a:b/c", "/a::b", "/a/:b:", "/a/:b:1", "/*", "/a/(b)", "/a/", "a"])(
    "stops the start: the path %s",
    (path) => {
      expect(start(add(path))).toThrow("not a method and a path such as /things/:id, /files/:path+");
    },
  );

  it("stops the start: invalid body limits, and unknown kinds of bodies", () => {
    expect(start(add("/a", { body: { as: "raw", bytes: 0 } }))).toThrow("body.bytes must be a whole number, 1 or more");
    expect(start(add("/a", { body: { as: "multipart", parts: -1 } }))).toThrow("body.parts must be a whole number");
    expect(start(add("/a", { body: { as: "xml" } }))).toThrow('body.as must be "raw" or "multipart"');
  });

  it("stops the start: a route that a plugin changes in another way", () => {
    const change = (given: object) => start(({ routes }) => routes.onRoute(() => given as never));
    expect(change({ rules: ["everyone"] })).toThrow(
      /plugin "acme\/one": routes.onRoute, for .*: there is no option "rules"/,
    );
    expect(change({ handler: "x" })).toThrow("handler must be a function, not string");
    expect(start(({ routes }) => routes.onRoute("x" as never))).toThrow("routes.onRoute takes a function");
  });

  it("stops the start: two routes that differ by the names of parameters", () => {
    const both = (one: string, two: string) => start((context) => [one, two].map((path) => add(path)(context)));
    expect(both("/f/:a+", "/f/:b+")).toThrow("collides with");
    expect(both("/o/:a:archive", "/o/:b:archive")).toThrow("collides with");
    expect(both("/o/:a", "/o/:b:archive")).not.toThrow();
  });
});
