import { once } from "node:events";
import { connect } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { setCookie } from "hono/cookie";
import { cors } from "hono/cors";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { honoAdapter } from "../../../src/adapters/hono/index.ts";
import type { KernelRequest } from "../../../src/kernel/index.ts";
import { rawRequest, requestBytes } from "../../support/http.ts";
import { headerOf } from "../../support/raw-response.ts";
import { listen } from "../listen.ts";
import { heldBody, readBody, reply, stubApp } from "../stub-app.ts";

const owns = (url: string, base?: string) => base !== undefined || url.startsWith("/api");
const echo = stubApp(
  async (request) => {
    const { method, url, base } = request;
    const body = await readBody(request).catch((error) => error.code);
    return reply({ method, url, base, body });
  },
  { owns },
);

const serve = (app: Hono): Promise<number> => listen(getRequestListener(app.fetch));

async function call(port: number, bytes: string) {
  const [response] = await rawRequest(port, bytes);
  if (response === undefined) throw new Error("no answer");
  const json = /json/.test(headerOf(response, "content-type") ?? "") ? JSON.parse(response.body) : undefined;
  return { ...response, json };
}

const get = async (app: Hono, target: string) => (await call(await serve(app), requestBytes("GET", target))).json;
const post = (target: string, body: string) =>
  requestBytes("POST", target, ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`], body);

describe("honoAdapter", () => {
  it("handles the API's paths and passes on the rest", async () => {
    const app = new Hono().use(honoAdapter(echo)).get("/about", (context) => context.text("mine"));
    const port = await serve(app);
    expect((await call(port, requestBytes("GET", "/api/a%2Fb//../c?x=%zz"))).json.url).toBe("/api/a%2Fb//../c?x=%zz");
    expect((await call(port, requestBytes("GET", "/about"))).body).toBe("mine");
    expect((await call(port, requestBytes("GET", "/nowhere"))).body).toBe("404 Not Found");
  });

  it("treats every path as the API's if the app does not define its paths", async () => {
    const { handle } = echo;
    expect(await get(new Hono().use(honoAdapter({ handle })), "/about")).toMatchObject({ url: "/about" });
  });

  it("passes its path to the app, which handles everything below it", async () => {
    const base = "/v1/deep";
    for (const app of [
      new Hono().route("/v1/deep", honoAdapter<Hono>(echo)),
      new Hono().all("/v1/deep/*", honoAdapter(echo)),
      new Hono().basePath("/v1/deep").use(honoAdapter(echo)),
      new Hono().route("/v1", new Hono().route("/deep", new Hono().use(honoAdapter(echo)))),
      new Hono().use("*", (_context, next) => next()).all("/:version/deep/*", honoAdapter(echo)),
    ]) {
      expect(await get(app, "/v1/deep/films?x=%41")).toMatchObject({ base, url: "/films?x=%41" });
      expect(await get(app, "/v1/deep?x=1")).toMatchObject({ base, url: "/?x=1" });
      expect(await get(app, "/v1/deep/films/../x")).toMatchObject({ base, url: "/films/../x" });
      expect(await get(app, "/v1/deeper")).toBeUndefined();
    }
  });

  it("passes on a mount path as sent, with any letters and wildcards", async () => {
    for (const [pattern, base] of [
      ["/länder/*", "/l%C3%A4nder"],
      ["/my api/*", "/my%20api"],
      ["/tenants/*/api/*", "/tenants/acme/api"],
    ] as const)
      expect(await get(new Hono().all(pattern, honoAdapter(echo)), `${base}/films?x=1`)).toMatchObject({
        base,
        url: "/films?x=1",
      });
  });

  it("does not treat a path without a wildcard as a mount path", async () => {
    expect(await get(new Hono().all("/api/films", honoAdapter(echo)), "/api/films")).toEqual({
      method: "GET",
      url: "/api/films",
    });
  });

  it("passes on paths with dots completely, so that they are refused", async () => {
    const app = new Hono().all("/v1/*", honoAdapter(echo));
    expect(await get(app, "/other/../v1/films")).toMatchObject({ base: "/v1", url: "/other/../v1/films" });
  });

  it("uses the path of a target in absolute form", async () => {
    expect(await get(new Hono().use(honoAdapter(echo)), "http://test.invalid/api/a/../b?x=1")).toMatchObject({
      url: "/api/a/../b?x=1",
    });
  });

  it("uses the URL of a Request without node:http", async () => {
    const app = new Hono().use(honoAdapter(echo));
    const body = { method: "POST", body: "{}" };
    expect(await (await app.request("/api/a%2Fb?x=%zz", body)).json()).toEqual({
      method: "POST",
      url: "/api/a%2Fb?x=%zz",
      body: "{}",
    });
    expect(await (await app.request("/api", {}, { incoming: undefined })).json()).toMatchObject({ url: "/api" });
  });

  it("follows middleware that replaces the Request", async () => {
    const inner = new Hono().use(honoAdapter(echo));
    expect(await get(new Hono().mount("/outer", inner.fetch), "/outer/api/films?x=1")).toMatchObject({
      url: "/api/films?x=1",
    });
  });

  it("passes Hono's context to getUser and handlers", async () => {
    const seen: unknown[] = [];
    const getUser = (context: Context) => {
      seen.push(context.get("session"), context.req.header("x-user"), context.req.path);
      return { id: "ada" };
    };
    const api = stubApp(
      (request: KernelRequest) => {
        (request.getUser as (raw: unknown) => unknown)(request.raw);
        return reply((request.raw as Context).req.method);
      },
      { owns },
    );
    const session: MiddlewareHandler = (context, next) => {
      context.set("session", "s1");
      return next();
    };
    const app = new Hono().use(session).route("/v1", honoAdapter<Hono, Context>(api, { getUser }));
    const { json } = await call(await serve(app), requestBytes("GET", "/v1/films", ["X-User: ada"]));
    expect(json).toBe("GET");
    expect(seen).toEqual(["s1", "ada", "/v1/films"]);
  });

  it("keeps headers that middleware adds, and the response's length", async () => {
    const cookies = stubApp(() => reply("grüße", 200, { "set-cookie": ["a=1", "b=2"] }), { owns });
    const app = new Hono()
      .use(cors({ origin: "https://app.example", credentials: true }))
      .use(async (context, next) => {
        await next();
        setCookie(context, "c", "3");
      })
      .use(honoAdapter(cookies));
    const response = await call(await serve(app), requestBytes("GET", "/api", ["Origin: https://app.example"]));
    expect(response.json).toBe("grüße");
    expect(headerOf(response, "access-control-allow-origin")).toBe("https://app.example");
    expect(headerOf(response, "content-length")).toBe("9");
    expect(response.headers.filter(([name]) => name === "set-cookie")).toHaveLength(3);
  });

  it("never passes errors to Hono", async () => {
    const api = stubApp(
      () => {
        throw new TypeError("secret");
      },
      { owns },
    );
    const onError = vi.fn((_error: Error, context: Context) => context.text("Hono", 500));
    const app = new Hono().use(honoAdapter(api)).onError(onError);
    expect(await get(app, "/api")).toMatchObject({ code: "INTERNAL" });
    expect(onError).not.toHaveBeenCalled();
    expect(api.log.lines).toEqual([expect.stringContaining("A response could not be sent")]);
  });

  it("leaves errors of later handlers to Hono", async () => {
    const app = new Hono()
      .route("/", honoAdapter<Hono>(echo))
      .get("/about", () => {
        throw new TypeError("mine");
      })
      .onError((error, context) => context.json(error.message, 500));
    expect(await get(app, "/about")).toBe("mine");
  });

  describe("honoAdapter behind middleware that reads bodies", () => {
    const behind = async (read: MiddlewareHandler, bytes = post("/api", '{"a":1}')) =>
      (await call(await serve(new Hono().use(read).use(honoAdapter(echo))), bytes)).json.body;
    const reading =
      (read: (context: Context) => Promise<unknown>): MiddlewareHandler =>
      async (context, next) => {
        await read(context);
        return next();
      };

    it("uses the body that Hono has cached", async () => {
      expect(await behind(reading(({ req }) => req.json()))).toBe('{"a":1}');
      expect(await behind(reading(({ req }) => req.text()))).toBe('{"a":1}');
      expect(await behind(reading(({ req }) => req.arrayBuffer()))).toBe('{"a":1}');
      expect(await behind(reading(({ req }) => req.blob()))).toBe('{"a":1}');
    });

    it("reads the body if a middleware has copied it, or counts the bytes", async () => {
      expect(await behind(reading(({ req }) => req.raw.clone().text()))).toBe('{"a":1}');
      expect(await behind(bodyLimit({ maxSize: 100 }))).toBe('{"a":1}');
    });

    it("fails without waiting if a middleware has read the body without Hono", async () => {
      expect(await behind(reading(({ req }) => req.raw.text()))).toBe("CONFIGURATION_ERROR");
    });

    it("has no body when none was sent", async () => {
      expect(
        await behind(
          reading(({ req }) => req.text()),
          requestBytes("GET", "/api"),
        ),
      ).toBeUndefined();
    });
  });

  it("distinguishes a truncated body from a complete one, and aborts the signal", async () => {
    const seen: unknown[] = [];
    const api = stubApp(
      async (request) => {
        request.signal?.addEventListener("abort", () => seen.push("aborted"));
        await readBody(request).catch((error) => seen.push(error.code));
        return reply("too late");
      },
      { owns },
    );
    const socket = connect(await serve(new Hono().use(honoAdapter(api))), "127.0.0.1");
    await once(socket, "connect");
    socket.write(requestBytes("POST", "/api", ["Content-Length: 100"], "half"), () => socket.resetAndDestroy());
    await expect.poll(() => [...seen].sort()).toEqual(["BAD_REQUEST", "aborted"]);
    expect(api.log.lines).toEqual([]);
  });

  describe("streams", () => {
    /** Counts its reads, and records whether it has ended. */
    function counted(fail = false) {
      const seen = { chunks: 0, ended: false };
      async function* chunks() {
        try {
          for (; seen.chunks < 5; seen.chunks++) {
            if (fail && seen.chunks === 1) throw new TypeError("secret");
            yield `chunk ${seen.chunks}\n`;
          }
        } finally {
          seen.ended = true;
        }
      }
      const api = stubApp(() => ({ status: 200, headers: { "content-type": "text/plain" }, body: chunks() }), { owns });
      return { seen, api, app: new Hono().use(honoAdapter(api)) };
    }

    it("are pulled chunk by chunk, and end when the reader cancels", async () => {
      const { seen, app } = counted();
      const { body } = await app.request("/api");
      const reader = (body as ReadableStream<Uint8Array>).getReader();
      expect(seen.chunks).toBe(0);
      expect(new TextDecoder().decode((await reader.read()).value)).toBe("chunk 0\n");
      await reader.cancel();
      expect(seen).toEqual({ chunks: 0, ended: true });
    });

    it("are cancelled if the response cannot be written, or has no body", async () => {
      for (const answer of [
        { status: 200, headers: { "x-broken": "a\nb" } },
        { status: 204, headers: {} },
      ]) {
        const { body, seen } = heldBody();
        const app = new Hono().use(honoAdapter(stubApp(() => ({ ...answer, body }), { owns })));
        expect((await app.request("/api")).status).toBe(answer.status === 204 ? 204 : 500);
        expect(seen).toEqual({ begun: 0, ended: 1 });
      }
    });

    it("cut the connection when they fail, and give the reason only in the log", async () => {
      const printed = vi.spyOn(console, "error").mockImplementation(() => {});
      onTestFinished(() => printed.mockRestore());
      const before: MiddlewareHandler[] = [(_context, next) => next(), cors()];
      for (const middleware of before) {
        const { seen, api, app } = counted(true);
        const port = await serve(new Hono().use(middleware).route("/", app));
        const response = await call(port, requestBytes("GET", "/api"));
        // If nothing was sent yet, @hono/node-server sends its own error response.
        expect(response.status === 500 || !response.complete).toBe(true);
        expect(response.body).not.toContain("secret");
        expect(seen.ended).toBe(true);
        expect(api.log.lines).toEqual([expect.stringContaining("A response could not be sent")]);
      }
      expect(JSON.stringify(printed.mock.calls.map(String))).not.toContain("secret");
    });
  });
});
