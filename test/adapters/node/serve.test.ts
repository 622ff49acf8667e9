import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ServableApp, type Served, serve } from "../../../src/adapters/node/index.ts";
import type { ServeOptions } from "../../../src/adapters/node/serve.ts";
import { DatabaseUnavailableError } from "../../../src/kernel/index.ts";
import { deferred } from "../../support/deferred.ts";
import { rawRequest, request, requestBytes } from "../../support/http.ts";
import { headerOf } from "../../support/raw-response.ts";
import { reply, stubApp } from "../stub-app.ts";

async function start(api: ServableApp, options: ServeOptions = {}): Promise<Served> {
  const served = await serve(api, { port: 0, hostname: "127.0.0.1", signals: false, ...options });
  onTestFinished(() => {
    served.server.closeAllConnections();
    return served.close();
  });
  return served;
}

const hello = (parts: Parameters<typeof stubApp>[1] = {}) => stubApp(() => reply("hello"), parts);

describe("starting", () => {
  it("waits for the app to be ready", async () => {
    const ready = deferred<void>();
    let listening = false;
    const served = start(hello({ ready: ready.promise })).then((value) => {
      listening = true;
      return value;
    });
    await nextTurn();
    expect(listening).toBe(false);
    ready.resolve();
    const { url, port } = await served;
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect((await request(url, "GET", "/")).json).toBe("hello");
  });

  it("fails with the error that keeps the app from being ready", async () => {
    const ready = Promise.reject(new RangeError("no database"));
    await expect(start(hello({ ready }))).rejects.toThrow("no database");
  });

  it("listens while the database is unavailable, to respond with 503", async () => {
    const ready = Promise.reject(new DatabaseUnavailableError());
    const { url } = await start(hello({ ready }));
    expect((await request(url, "GET", "/")).json).toBe("hello");
  });

  it("fails with a ConfigurationError when the port is taken", async () => {
    const { port } = await start(hello());
    await expect(start(hello(), { port })).rejects.toMatchObject({
      code: "CONFIGURATION_ERROR",
      message: expect.stringContaining(`127.0.0.1:${port} (EADDRINUSE)`),
    });
  });

  it("has a url with the host that it listens on", async () => {
    expect((await start(hello(), { hostname: "::1" })).url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await start(hello(), { hostname: undefined })).url).toMatch(/^http:\/\/localhost:\d+$/);
  });

  it("sets time limits for slow clients", async () => {
    const { server } = await start(hello());
    expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 3_600_000, keepAliveTimeout: 65_000 });
    expect(server.maxRequestsPerSocket).toBe(0);
  });

  it("passes getUser on", async () => {
    const api = stubApp((kernelRequest) =>
      reply((kernelRequest.getUser as (raw: unknown) => unknown)(kernelRequest.raw)),
    );
    const { url } = await start(api, { getUser: (incoming) => ({ id: incoming.headers["x-user"] }) });
    expect((await request(url, "GET", "/", { headers: { "x-user": "ada" } })).json).toEqual({ id: "ada" });
  });

  it("listens for signals until it is closed, and only with the option", async () => {
    const listeners = () => process.listenerCount("SIGTERM") + process.listenerCount("SIGINT");
    const before = listeners();
    const deaf = await start(hello());
    expect(listeners()).toBe(before);
    const served = await start(hello(), { signals: true });
    expect(listeners()).toBe(before + 2);
    await served.close();
    expect(listeners()).toBe(before);
    await deaf.close();
  });
});

describe("bytes that are not a request", () => {
  it.each([
    ["a target with a space", requestBytes("GET", "/a b"), 400],
    ["a method nobody knows", requestBytes("FOO", "/"), 400],
    ["no HTTP at all", "\u0016\u0003\u0001\u0000 hello\r\n\r\n", 400],
    ["two lengths", requestBytes("POST", "/", ["Content-Length: 5", "Content-Length: 6"], "hello"), 400],
    [
      "a length and chunks",
      requestBytes("POST", "/", ["Content-Length: 5", "Transfer-Encoding: chunked"], "0\r\n\r\n"),
      400,
    ],
    ["a header line with a space before the colon", requestBytes("GET", "/", ["X-A : 1"]), 400],
    ["a chunk of no size", requestBytes("POST", "/", ["Transfer-Encoding: chunked"], "zz\r\n"), 400],
    ["no Host", "GET / HTTP/1.1\r\n\r\n", 400],
    ["an expectation that no server meets", requestBytes("GET", "/", ["Expect: 200-ok"]), 417],
    ["a header of 20 kB", requestBytes("GET", "/", [`X-A: ${"a".repeat(20_000)}`]), 431],
  ])("%s is refused in the format of all errors, and the connection is closed", async (_what, bytes, status) => {
    const api = stubApp(async ({ body }) => {
      if (body?.kind === "stream") for await (const _chunk of body.stream);
      return reply("hello");
    });
    const { port } = await start(api);
    const [response, ...more] = await rawRequest(port, bytes);
    expect(more).toEqual([]);
    expect(response?.status).toBe(status);
    const { requestId, ...body } = JSON.parse(response?.body ?? "");
    expect(body).toEqual({ code: "BAD_REQUEST", message: expect.any(String), status });
    expect(response && headerOf(response, "x-request-id")).toBe(requestId);
    expect(response && headerOf(response, "connection")).toBe("close");
    expect(response && headerOf(response, "content-type")).toBe("application/json; charset=utf-8");
  });

  it("do not drop the response to the request before them", async () => {
    const go = deferred<void>();
    const api = stubApp(async () => {
      await go.promise;
      return reply("hello");
    });
    const { port } = await start(api);
    const answers = rawRequest(port, `${requestBytes("GET", "/", ["Connection: keep-alive"])}garbage\r\n\r\n`);
    await nextTurn();
    go.resolve();
    const responses = await answers;
    expect(responses.map(({ status, body }) => [status, body])).toEqual([[200, '"hello"']]);
  });

  it("cut the connection if the response before them is in progress", async () => {
    const go = deferred<void>();
    async function* slow() {
      yield "half";
      await go.promise;
    }
    const { port } = await start(stubApp(() => ({ status: 200, headers: {}, body: slow() })));
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(requestBytes("POST", "/", ["Transfer-Encoding: chunked"]));
    await once(socket, "data");
    socket.write("zz\r\n");
    await once(socket, "close");
    go.resolve();
  });
});

describe("closing", () => {
  it("lets pending responses finish, asks clients to close, and then closes the app", async () => {
    const go = deferred<void>();
    const arrived = deferred<void>();
    const api = stubApp(async () => {
      arrived.resolve();
      await go.promise;
      expect(api.closed).toBe(false);
      return reply("hello");
    });
    const { port, close } = await start(api);
    const answer = rawRequest(port, requestBytes("GET", "/", ["Connection: keep-alive"]));
    await arrived.promise;
    const closed = close();
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
    go.resolve();
    const [response] = await answer;
    expect(response).toMatchObject({ status: 200, body: '"hello"' });
    expect(response && headerOf(response, "connection")).toBe("close");
    await closed;
    expect(api.closed).toBe(true);
  });

  it("sends the responses to all pipelined requests of a connection", async () => {
    const go = deferred<void>();
    const third = deferred<void>();
    let count = 0;
    const api = stubApp(async () => {
      const id = ++count;
      if (id === 3) third.resolve();
      await go.promise;
      return reply(id);
    });
    const { port, close } = await start(api);
    const answers = rawRequest(port, requestBytes("GET", "/", ["Connection: keep-alive"]).repeat(3));
    await third.promise;
    const closed = close();
    go.resolve();
    expect((await answers).map(({ body }) => body)).toEqual(["1", "2", "3"]);
    await closed;
  });

  it("waits neither for idle connections nor for those that never sent anything", async () => {
    const { port, close } = await start(hello());
    const idle = connect(port, "127.0.0.1");
    idle.write(requestBytes("GET", "/", ["Connection: keep-alive"]));
    await once(idle, "data");
    const silent = connect(port, "127.0.0.1");
    await once(silent, "connect");
    const ends = Promise.all([once(idle, "close"), once(silent, "close")]);
    await close();
    await ends;
  });

  it("cuts unfinished responses after the grace period", async () => {
    const api = stubApp(() => new Promise(() => {}));
    const { port, close } = await start(api, { gracePeriod: 10 });
    const answer = rawRequest(port, requestBytes("GET", "/"));
    await nextTurn();
    await close();
    expect(await answer).toEqual([]);
    expect(api.closed).toBe(true);
  });

  it("finishes a stream in progress", async () => {
    const go = deferred<void>();
    async function* rows() {
      yield "first ";
      await go.promise;
      yield "last";
    }
    const { port, close } = await start(stubApp(() => ({ status: 200, headers: {}, body: rows() })));
    const outgoing = httpRequest({ port, host: "127.0.0.1", agent: false }).end();
    const [incoming] = await once(outgoing, "response");
    const closed = close();
    go.resolve();
    let text = "";
    for await (const chunk of incoming) text += chunk;
    expect(text).toBe("first last");
    await closed;
  });

  it("happens once, however often it is called", async () => {
    let closes = 0;
    const { close } = await start(hello({ close: async () => void closes++ }));
    await Promise.all([close(), close()]);
    await close();
    expect(closes).toBe(1);
  });
});
