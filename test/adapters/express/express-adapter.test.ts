import type { IncomingMessage, ServerResponse } from "node:http";
import express5 from "express";
import { describe, expect, it, vi } from "vitest";
import { expressAdapter } from "../../../src/adapters/express/index.ts";
import type { KernelRequest } from "../../../src/kernel/index.ts";
import { rawRequest, requestBytes } from "../../support/http.ts";
import { headerOf } from "../../support/raw-response.ts";
import { listen } from "../listen.ts";
import { readBody, reply, stubApp } from "../stub-app.ts";

// The alias has no types of its own; the parts used here are the same in both versions.
const { default: express4 } = (await import("express4" as string)) as { default: typeof express5 };

const owns = (url: string, base?: string) => base !== undefined || url.startsWith("/api");
const echo = stubApp(
  async (request) => {
    const { method, url, base } = request;
    return reply({ method, url, base, body: await readBody(request) });
  },
  { owns },
);

async function call(port: number, bytes: string) {
  const [response] = await rawRequest(port, bytes);
  if (response === undefined) throw new Error("no answer");
  const json = /json/.test(headerOf(response, "content-type") ?? "") ? JSON.parse(response.body) : undefined;
  return { ...response, json };
}

const post = (target: string, body: string, type = "application/json") =>
  requestBytes("POST", target, [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`], body);

describe.each([
  ["express 5", express5],
  ["express 4", express4],
] as const)("%s", (_version, express) => {
  const pass = (_request: unknown, _response: unknown, next: () => void) => next();
  /** As the first middleware, the adapter takes requests before Express does; both ways behave the same. */
  const places = [
    ["as the first middleware", () => express()],
    ["behind another middleware", () => express().use(pass)],
  ] as const;

  describe.each(places)("%s", (_place, createApp) => {
    it("handles the API's paths and passes on the rest", async () => {
      const app = createApp()
        .use(expressAdapter(echo))
        .use((request, response) => void response.send(`mine: ${request.originalUrl}`));
      const port = await listen(app);
      expect((await call(port, requestBytes("GET", "/api/a%2Fb//c?x=%zz"))).json).toMatchObject({
        method: "GET",
        url: "/api/a%2Fb//c?x=%zz",
      });
      expect((await call(port, requestBytes("GET", "/about?x=1"))).body).toBe("mine: /about?x=1");
    });

    it("passes its mount path to the app, which handles everything below it", async () => {
      const app = createApp()
        .use("/v1/deep", expressAdapter(echo))
        .use((_request, response) => void response.send("mine"));
      const port = await listen(app);
      const { json } = await call(port, requestBytes("GET", "/v1/deep/films?x=1"));
      expect(json).toMatchObject({ url: "/films?x=1", base: "/v1/deep" });
      expect((await call(port, requestBytes("GET", "/v1/deep"))).json).toMatchObject({ url: "/", base: "/v1/deep" });
      expect((await call(port, requestBytes("GET", "/v1/deep?x=1"))).json).toMatchObject({ url: "/?x=1" });
      expect((await call(port, requestBytes("GET", "/V1/Deep/films"))).json).toMatchObject({ base: "/V1/Deep" });
      expect((await call(port, requestBytes("GET", "/v1/deeper"))).body).toBe("mine");
      expect((await call(port, requestBytes("GET", "/api/films"))).body).toBe("mine");
    });

    it("uses the path of a target in absolute form", async () => {
      const port = await listen(createApp().use(expressAdapter(echo)));
      const mounted = await listen(createApp().use("/v1", expressAdapter(echo)));
      expect((await call(port, requestBytes("GET", "http://test.invalid/api/a?x=1"))).json.url).toBe("/api/a?x=1");
      expect((await call(mounted, requestBytes("GET", "http://test.invalid/v1/a?x=1"))).json.url).toBe("/a?x=1");
    });

    it("sends nothing of a failed response except the headers that the host added", async () => {
      const broken = stubApp(() => reply("x", 200, { "set-cookie": "a=1", "x-broken": "a\nb" }), { owns });
      const app = express().use((_request, response, next) => {
        response.setHeader("X-Host", "1");
        next();
      });
      const response = await call(await listen(app.use(expressAdapter(broken))), requestBytes("GET", "/api"));
      expect([response.status, response.reason]).toEqual([500, "Internal Server Error"]);
      expect([headerOf(response, "set-cookie"), headerOf(response, "x-host")]).toEqual([undefined, "1"]);
    });

    it("passes Express's own request to getUser and handlers", async () => {
      const seen: unknown[] = [];
      const getUser = (request: express5.Request) => {
        seen.push(request.get("x-user"), request.ip, request.originalUrl, request.baseUrl, request.url, request.path);
        return { id: "ada" };
      };
      const api = stubApp(
        (request: KernelRequest) => {
          (request.getUser as (raw: unknown) => unknown)(request.raw);
          return reply((request.raw as express5.Request).get("host"));
        },
        { owns },
      );
      const app = createApp().use("/v1", expressAdapter(api, { getUser }));
      const { json } = await call(await listen(app), requestBytes("GET", "/v1/films?x=1", ["X-User: ada"]));
      expect(json).toBe("test.invalid");
      expect(seen).toEqual(["ada", "127.0.0.1", "/v1/films?x=1", "/v1", "/films?x=1", "/films"]);
    });

    it("never passes errors to Express", async () => {
      const api = stubApp(
        () => {
          throw new TypeError("secret");
        },
        { owns },
      );
      const onError = vi.fn();
      const app = createApp()
        .use(expressAdapter(api))
        .use((_error: unknown, _request: unknown, response: ServerResponse, _next: unknown) => {
          onError();
          response.end("Express");
        });
      expect((await call(await listen(app), requestBytes("GET", "/api"))).json).toMatchObject({ code: "INTERNAL" });
      expect(onError).not.toHaveBeenCalled();
    });

    it("reads a body if no parser has read it", async () => {
      const port = await listen(createApp().use(expressAdapter(echo)).use(express.json()));
      expect((await call(port, post("/api", '{"a":1}'))).json.body).toBe('{"a":1}');
      expect((await call(port, requestBytes("GET", "/api"))).json.body).toBeUndefined();
    });
  });

  it("treats every path as the API's if the app does not define its paths", async () => {
    const { handle } = echo;
    const port = await listen(express().use(expressAdapter({ handle })));
    expect((await call(port, requestBytes("GET", "/about"))).json).toMatchObject({ url: "/about" });
  });

  it("bypasses Express only as the first middleware and with the option", async () => {
    const shortcut = true;
    const poweredBy = async (app: ReturnType<typeof express5>, target = "/api") =>
      headerOf(await call(await listen(app), requestBytes("GET", target)), "x-powered-by");
    expect(await poweredBy(express().use(expressAdapter(echo, { shortcut })).use(pass))).toBeUndefined();
    expect(await poweredBy(express().use("/v1", expressAdapter(echo, { shortcut })), "/v1/films")).toBeUndefined();
    expect(await poweredBy(express().use(pass).use(expressAdapter(echo, { shortcut })))).toBe("Express");
    expect(await poweredBy(express().use(pass, expressAdapter(echo, { shortcut })))).toBe("Express");
    expect(await poweredBy(express().use("/:tenant", expressAdapter(echo, { shortcut })), "/v1/films")).toBe("Express");
    expect(await poweredBy(express().use(expressAdapter(echo)))).toBe("Express");
  });

  it("uses the body that a host has read before it called the app", async () => {
    const readers = {
      parsed: (text: string): unknown => JSON.parse(text),
      text: (text: string): unknown => text,
      nothing: (): unknown => undefined,
    };
    const kindOf = stubApp(
      async (request) =>
        reply({ kind: request.body?.kind, content: await readBody(request).catch((error) => error.code) }),
      { owns },
    );
    const behind = async (keep: (text: string) => unknown, shortcut: boolean) => {
      const app = express().use(expressAdapter(kindOf, { shortcut }));
      const host = async (request: IncomingMessage & { body?: unknown }, response: ServerResponse) => {
        let text = "";
        for await (const chunk of request) text += chunk;
        request.body = keep(text);
        app(request as never, response as never);
      };
      const port = await listen((request, response) => void host(request, response));
      return (await call(port, post("/api", '{"a":1}'))).json;
    };
    for (const shortcut of [true, false]) {
      expect(await behind(readers.parsed, shortcut)).toEqual({ kind: "parsed", content: { a: 1 } });
      expect(await behind(readers.text, shortcut)).toEqual({ kind: "text", content: '{"a":1}' });
      expect(await behind(readers.nothing, shortcut)).toEqual({ kind: "stream", content: "CONFIGURATION_ERROR" });
    }
  });

  it("shows everything to other middleware of the same app if it is not the first", async () => {
    const seen: string[] = [];
    const app = express()
      .use((request, response, next) => {
        seen.push(request.path);
        response.setHeader("x-before", "1");
        next();
      })
      .use(expressAdapter(echo));
    const response = await call(await listen(app), requestBytes("GET", "/api/films"));
    expect(headerOf(response, "x-before")).toBe("1");
    expect(seen).toEqual(["/api/films"]);
  });

  it("works in a router, and in a mounted app", async () => {
    const inner = express().use("/deep", expressAdapter(echo));
    const router = express.Router().use("/routed", expressAdapter(echo));
    const port = await listen(express().use("/v1", inner).use("/v2", router));
    expect((await call(port, requestBytes("GET", "/v1/deep/films"))).json).toMatchObject({
      url: "/films",
      base: "/v1/deep",
    });
    expect((await call(port, requestBytes("GET", "/v2/routed/films"))).json).toMatchObject({
      url: "/films",
      base: "/v2/routed",
    });
  });

  it("follows middleware that rewrites the path", async () => {
    const rewrite: express5.RequestHandler = (request, _response, next) => {
      request.url = request.url.replace("/old", "/v1");
      next();
    };
    const port = await listen(express().use(rewrite).use("/v1", expressAdapter(echo)));
    expect((await call(port, requestBytes("GET", "/old/films?x=1"))).json).toMatchObject({
      url: "/films?x=1",
      base: "/v1",
    });
  });

  it("works below path patterns", async () => {
    const port = await listen(express().use("/:tenant", expressAdapter(echo)));
    expect((await call(port, requestBytes("GET", "/acme/films"))).json).toMatchObject({ url: "/films", base: "/acme" });
    const several = await listen(express().use(["/a", "/b"], expressAdapter(echo)));
    expect((await call(several, requestBytes("GET", "/b/films"))).json).toMatchObject({ url: "/films", base: "/b" });
  });

  describe("the adapter behind body parsers", () => {
    const kindOf = stubApp(
      async (request) => {
        const { body } = request;
        const content = await readBody(request).catch((error) => error.code);
        return reply({ kind: body?.kind, content });
      },
      { owns },
    );
    const all = () => true;
    const behind = async (parser: express5.RequestHandler, bytes: string) =>
      (await call(await listen(express().use(parser).use(expressAdapter(kindOf))), bytes)).json;

    it("uses the JSON parser's result, also an empty object", async () => {
      expect(await behind(express.json(), post("/api", '{"a":1}'))).toEqual({ kind: "parsed", content: { a: 1 } });
      expect(await behind(express.json(), post("/api", "{}"))).toEqual({ kind: "parsed", content: {} });
      expect(await behind(express.json({ strict: false }), post("/api", "1"))).toEqual({ kind: "parsed", content: 1 });
      expect(await behind(express.json({ strict: false }), post("/api", "null"))).toEqual({
        kind: "parsed",
        content: null,
      });
      expect(await behind(express.json({ strict: false }), post("/api", "false"))).toEqual({
        kind: "parsed",
        content: false,
      });
    });

    it("uses the form parser's result", async () => {
      const form = post("/api", "a[b]=1", "application/x-www-form-urlencoded");
      expect(await behind(express.urlencoded({ extended: true }), form)).toEqual({
        kind: "parsed",
        content: { a: { b: "1" } },
      });
    });

    it("uses the bytes of the raw parser and the text of the text parser", async () => {
      expect(await behind(express.raw({ type: all }), post("/api", '{"a":1}'))).toEqual({
        kind: "bytes",
        content: '{"a":1}',
      });
      expect(await behind(express.text({ type: all }), post("/api", '{"a":1}'))).toEqual({
        kind: "text",
        content: '{"a":1}',
      });
    });

    it("reads the body itself when the parser was for another type", async () => {
      for (const parser of [express.json(), express.raw(), express.text()])
        expect(await behind(parser, post("/api", "<a/>", "text/xml"))).toEqual({ kind: "stream", content: "<a/>" });
    });

    it("has no body when none was sent", async () => {
      for (const parser of [express.json(), express.raw(), express.text()])
        expect(await behind(parser, requestBytes("GET", "/api"))).toEqual({});
    });

    it("uses a body that a middleware has set without reading", async () => {
      const set = (request: IncomingMessage & { body?: unknown }, _response: unknown, next: () => void) => {
        request.body = { a: 1 };
        next();
      };
      expect(await behind(set, post("/api", "x"))).toEqual({ kind: "parsed", content: { a: 1 } });
    });

    it("fails without waiting if a middleware has read the body and discarded it", async () => {
      const swallow = (request: IncomingMessage, _response: unknown, next: () => void) => {
        request.on("end", next).resume();
      };
      expect(await behind(swallow, post("/api", '{"a":1}'))).toEqual({
        kind: "stream",
        content: "CONFIGURATION_ERROR",
      });
      expect(await behind(swallow, requestBytes("GET", "/api"))).toEqual({});
    });
  });
});
