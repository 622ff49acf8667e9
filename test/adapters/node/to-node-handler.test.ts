import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { toNodeHandler } from "../../../src/adapters/node/index.ts";
import type { KernelRequest } from "../../../src/kernel/index.ts";
import { deferred } from "../../support/deferred.ts";
import { rawRequest, requestBytes } from "../../support/http.ts";
import { headerOf } from "../../support/raw-response.ts";
import { listen } from "../listen.ts";
import { heldBody, readBody, reply, stubApp } from "../stub-app.ts";

const echo = stubApp(async (request) => {
  const { method, url, base, headers } = request;
  return reply({ method, url, base, headers, body: await readBody(request) });
});

async function one(port: number, bytes: string | Uint8Array) {
  const responses = await rawRequest(port, bytes);
  expect(responses).toHaveLength(1);
  return responses[0] as (typeof responses)[0];
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await nextTurn();
}

describe("the request", () => {
  it("has the method and target of the request line", async () => {
    const port = await listen(toNodeHandler(echo));
    const target = "/API/a%2Fb/../%00//c?x=%zz&x=%41";
    const { body } = await one(port, requestBytes("PROPFIND", target));
    expect(JSON.parse(body)).toMatchObject({ method: "PROPFIND", url: target });
  });

  it("has the path of a target in absolute form", async () => {
    const port = await listen(toNodeHandler(echo));
    for (const [target, url] of [
      ["http://test.invalid/api/films?x=1", "/api/films?x=1"],
      ["HTTPS://test.invalid:8080/api", "/api"],
      ["http://test.invalid", "/"],
      ["http://test.invalid?x=1", "?x=1"],
      ["*", "*"],
    ] as const)
      expect(JSON.parse((await one(port, requestBytes("OPTIONS", target))).body).url).toBe(url);
  });

  it("has repeated header lines joined, so that none is ignored", async () => {
    const port = await listen(toNodeHandler(echo));
    const lines = ["Authorization: Bearer a", "authorization: Bearer b", "Content-Type: a/b", "Content-Type: c/d"];
    const { body } = await one(port, requestBytes("GET", "/", [...lines, "Cookie: a=1", "Cookie: b=2", "X-One: 1"]));
    expect(JSON.parse(body).headers).toMatchObject({
      authorization: "Bearer a, Bearer b",
      "content-type": "a/b, c/d",
      cookie: "a=1; b=2",
      "x-one": "1",
    });
  });

  it("contains node's request, also for getUser", async () => {
    let seen: KernelRequest | undefined;
    const api = stubApp((request) => {
      seen = request;
      return reply((request.getUser as (raw: unknown) => unknown)(request.raw));
    });
    const port = await listen(
      toNodeHandler(api, { getUser: (raw: IncomingMessage) => ({ id: raw.headers["x-user"] }) }),
    );
    expect((await one(port, requestBytes("GET", "/", ["X-User: ada"]))).body).toBe('{"id":"ada"}');
    expect((seen?.raw as IncomingMessage | undefined)?.method).toBe("GET");
  });

  it("has no body when none is announced", async () => {
    const port = await listen(toNodeHandler(stubApp((request) => reply(request.body ?? "none"))));
    expect((await one(port, requestBytes("GET", "/"))).body).toBe('"none"');
    expect((await one(port, requestBytes("POST", "/", ["Content-Length: 0"]))).body).toBe('"none"');
  });

  it("has a body of one piece, of many chunks, or of many packets", async () => {
    const port = await listen(toNodeHandler(echo));
    const body = async (bytes: string) => JSON.parse((await one(port, bytes)).body).body;
    expect(await body(requestBytes("POST", "/", ["Content-Length: 5"], "hello"))).toBe("hello");
    const chunked = "2\r\nhe\r\n3;note=x\r\nllo\r\n0\r\nTrailer: x\r\n\r\n";
    expect(await body(requestBytes("POST", "/", ["Transfer-Encoding: chunked"], chunked))).toBe("hello");
    const long = "0123456789".repeat(200_000);
    expect(await body(requestBytes("POST", "/", [`Content-Length: ${long.length}`], long))).toBe(long);
  });
});

describe("a slow reader", () => {
  it("slows down the client, and gets everything in the end", async () => {
    const go = deferred<void>();
    const started = deferred<IncomingMessage>();
    const size = 40_000_000;
    const api = stubApp(async ({ body, raw }) => {
      if (body?.kind !== "stream") return reply("no stream", 500);
      let read = 0;
      for await (const chunk of body.stream) {
        if (read === 0) started.resolve(raw as IncomingMessage);
        read += chunk.length;
        await go.promise;
      }
      return reply(read);
    });
    const port = await listen(toNodeHandler(api));
    const head = Buffer.from(requestBytes("POST", "/", [`Content-Length: ${size}`]));
    const answer = one(port, Buffer.concat([head, Buffer.alloc(size, "x")]));
    const { socket } = await started.promise;
    // Buffers of the operating system fill up first; then nothing more is read.
    for (let before = -1; before !== socket.bytesRead; await new Promise((resolve) => setTimeout(resolve, 100)))
      before = socket.bytesRead;
    expect(socket.bytesRead).toBeLessThan(size / 4);
    go.resolve();
    expect((await answer).body).toBe(String(size));
  });
});

describe("base", () => {
  it("may end with a slash, is absent when empty, and must be a path", async () => {
    const at = async (base: string, path: string) =>
      JSON.parse((await one(await listen(toNodeHandler(echo, { base })), requestBytes("GET", path))).body);
    expect(await at("/v1/", "/v1/films")).toMatchObject({ base: "/v1", url: "/films" });
    for (const base of ["", "/"]) expect(await at(base, "/api/films")).not.toHaveProperty("base");
    expect(() => toNodeHandler(echo, { base: "v1" })).toThrow('`base` "v1" must be a path such as /v1');
  });

  const paths = [
    ["/v1/deep/films?x=1", { url: "/films?x=1", base: "/v1/deep" }],
    ["/v1/deep", { url: "/", base: "/v1/deep" }],
    ["/v1/deep?x=1", { url: "/?x=1", base: "/v1/deep" }],
    ["/v1/deep//films", { url: "//films", base: "/v1/deep" }],
  ] as const;
  it.each(paths)("is removed from %s", async (target, expected) => {
    const port = await listen(toNodeHandler(echo, { base: "/v1/deep" }));
    expect(JSON.parse((await one(port, requestBytes("GET", target))).body)).toMatchObject(expected);
  });

  it.each(["/", "/v1/deeper", "/v1", "/api/films", "/V1/deep/films", "/v1/%64eep/films"])(
    "gives 404 for %s, which is not below it",
    async (target) => {
      const port = await listen(toNodeHandler(echo, { base: "/v1/deep" }));
      const response = await one(port, requestBytes("GET", target));
      expect(response.status).toBe(404);
      expect(JSON.parse(response.body)).toMatchObject({ code: "NOT_FOUND", status: 404 });
    },
  );
});

describe("a body that is not read to its end", () => {
  it("does not delay the response to a client that is still sending", async () => {
    const port = await listen(toNodeHandler(stubApp(() => reply({ code: "PAYLOAD_TOO_LARGE" }, 413))));
    const size = 20_000_000;
    const upload = Buffer.concat([
      Buffer.from(requestBytes("POST", "/", [`Content-Length: ${size}`, "Connection: keep-alive"])),
      Buffer.alloc(size, "x"),
    ]);
    const response = await one(port, upload);
    expect(response).toMatchObject({ status: 413, complete: true });
    expect(headerOf(response, "connection")).toBe("close");
  });

  it("closes the connection after the response if its reader stops in the middle", async () => {
    const api = stubApp(async ({ body }) => {
      if (body?.kind !== "stream") return reply("no stream", 500);
      for await (const _chunk of body.stream) break;
      return reply("enough", 413);
    });
    const port = await listen(toNodeHandler(api));
    const headers = ["Transfer-Encoding: chunked", "Connection: keep-alive"];
    const response = await one(port, requestBytes("POST", "/", headers, "5\r\nhello\r\n"));
    expect(response).toMatchObject({ status: 413, body: '"enough"' });
    expect(headerOf(response, "connection")).toBe("close");
  });

  it("leaves the connection open if it has arrived completely", async () => {
    const port = await listen(toNodeHandler(stubApp(() => reply("unread", 401))));
    const first = requestBytes("POST", "/", ["Content-Length: 5", "Connection: keep-alive"], "hello");
    const responses = await rawRequest(port, first + requestBytes("GET", "/"));
    expect(responses.map(({ status }) => status)).toEqual([401, 401]);
    expect(headerOf(responses[0] as never, "connection")).toBe("keep-alive");
  });

  it("fails its reader with 400 when the client disconnects", async () => {
    const failure = deferred<unknown>();
    const api = stubApp(async (request) => {
      await readBody(request).catch(failure.resolve);
      return reply("nobody hears this");
    });
    const port = await listen(toNodeHandler(api));
    const socket = connect(port, "127.0.0.1");
    socket.write(requestBytes("POST", "/", ["Content-Length: 100"], "half"));
    await once(socket, "connect");
    await nextTurn();
    socket.resetAndDestroy();
    expect(await failure.promise).toMatchObject({ status: 400, code: "BAD_REQUEST" });
  });
});

describe("the signal", () => {
  it("aborts when the client disconnects before the response", async () => {
    const aborted = deferred<string>();
    const api = stubApp(async ({ signal }) => {
      const { promise, resolve } = deferred<void>();
      signal?.addEventListener("abort", () => resolve());
      await promise;
      aborted.resolve("aborted");
      return reply("nobody hears this");
    });
    const port = await listen(toNodeHandler(api));
    const socket = connect(port, "127.0.0.1");
    socket.write(requestBytes("GET", "/"));
    await once(socket, "connect");
    await nextTurn();
    socket.destroy();
    expect(await aborted.promise).toBe("aborted");
  });

  it("is already aborted if the client has disconnected before its first use", async () => {
    const seen = deferred<boolean | undefined>();
    const arrived = deferred<IncomingMessage>();
    const api = stubApp(async (request) => {
      const incoming = request.raw as IncomingMessage;
      arrived.resolve(incoming);
      await once(incoming.socket, "close");
      await nextTurn();
      seen.resolve(request.signal?.aborted);
      return reply("nobody hears this");
    });
    const port = await listen(toNodeHandler(api));
    const socket = connect(port, "127.0.0.1");
    socket.write(requestBytes("GET", "/"));
    await arrived.promise;
    socket.destroy();
    expect(await seen.promise).toBe(true);
  });

  it("does not abort when the response arrived", async () => {
    let signal: AbortSignal | undefined;
    const port = await listen(
      toNodeHandler(
        stubApp((request) => {
          signal = request.signal;
          expect(request.signal).toBe(signal);
          return reply("ok");
        }),
      ),
    );
    await one(port, requestBytes("GET", "/"));
    expect(signal?.aborted).toBe(false);
  });
});

describe("the response", () => {
  it("has the length of text and bytes, and repeated headers as separate lines", async () => {
    const text = stubApp(() => ({
      status: 201,
      headers: { "set-cookie": ["a=1", "b=2"], "x-one": "1" },
      body: "grüße",
    }));
    const response = await one(await listen(toNodeHandler(text)), requestBytes("GET", "/"));
    expect(response).toMatchObject({ status: 201, body: "grüße" });
    expect(headerOf(response, "content-length")).toBe("7");
    expect(response.headers.filter(([name]) => name === "set-cookie")).toEqual([
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ]);
    const bytes = stubApp(() => ({ status: 200, headers: {}, body: new Uint8Array([104, 105]) }));
    expect(await one(await listen(toNodeHandler(bytes)), requestBytes("GET", "/"))).toMatchObject({ body: "hi" });
  });

  it.each([
    [200, "0"],
    [204, undefined],
    [304, undefined],
  ])("without a body and with status %i has content-length %s", async (status, length) => {
    const port = await listen(toNodeHandler(stubApp(() => ({ status, headers: {}, body: null }))));
    const response = await one(port, requestBytes("GET", "/"));
    expect(response.status).toBe(status);
    expect(headerOf(response, "content-length")).toBe(length);
    expect(headerOf(response, "transfer-encoding")).toBeUndefined();
  });

  it("to HEAD keeps the length that GET would have", async () => {
    const port = await listen(
      toNodeHandler(stubApp(() => ({ status: 200, headers: { "content-length": "42" }, body: null }))),
    );
    const response = await one(port, requestBytes("HEAD", "/"));
    expect(headerOf(response, "content-length")).toBe("42");
    expect(response.body).toBe("");
  });

  it("streams, and waits for a client that reads slowly", async () => {
    let made = 0;
    async function* rows() {
      for (; made < 400; made++) yield "x".repeat(100_000);
    }
    const port = await listen(toNodeHandler(stubApp(() => ({ status: 200, headers: {}, body: rows() }))));
    const socket = connect({ port, host: "127.0.0.1" });
    socket.pause();
    socket.write(requestBytes("GET", "/"));
    let before = -1;
    // Buffers of the operating system fill up first; then nothing more is produced.
    while (made === 0 || made !== before) {
      before = made;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(made).toBeLessThan(400);
    let size = 0;
    socket.on("data", (chunk) => {
      size += chunk.length;
    });
    socket.resume();
    await once(socket, "close");
    expect(made).toBe(400);
    expect(size).toBeGreaterThan(40_000_000);
  });

  it("stops a stream when its client disconnects", async () => {
    const stopped = deferred<string>();
    async function* endless() {
      try {
        for (;;) yield "x".repeat(100_000);
      } finally {
        stopped.resolve("stopped");
      }
    }
    const api = stubApp(() => ({ status: 200, headers: {}, body: endless() }));
    const port = await listen(toNodeHandler(api));
    const socket = connect(port, "127.0.0.1");
    socket.write(requestBytes("GET", "/"));
    await once(socket, "data");
    socket.destroy();
    expect(await stopped.promise).toBe("stopped");
    expect(api.log.lines).toEqual([]);
  });

  it("is cut off, not ended, when its stream fails", async () => {
    async function* failing() {
      yield "half";
      await nextTurn();
      throw new RangeError("secret");
    }
    const api = stubApp(() => ({ status: 200, headers: {}, body: failing() }));
    const response = await one(await listen(toNodeHandler(api)), requestBytes("GET", "/"));
    expect(response).toMatchObject({ status: 200, body: "half", complete: false });
    await until(() => api.log.lines.length > 0);
    expect(api.log.lines.join()).toContain("RangeError");
    expect(api.log.lines.join()).not.toContain("secret");
  });

  it("is 500 in the format of all errors when it cannot be written", async () => {
    const api = stubApp(() => reply("x", 200, { "x-broken": "a\nb" }));
    const response = await one(await listen(toNodeHandler(api)), requestBytes("GET", "/"));
    const { requestId, ...body } = JSON.parse(response.body);
    expect(body).toEqual({ code: "INTERNAL", message: "Something went wrong", status: 500 });
    expect(headerOf(response, "x-request-id")).toBe(requestId);
    expect(headerOf(response, "x-content-type-options")).toBe("nosniff");
    expect(headerOf(response, "cache-control")).toBe("private, no-store");
    expect(api.log.lines).toHaveLength(1);
  });

  it("cancels its stream when it cannot be written", async () => {
    const { body, seen } = heldBody();
    const api = stubApp(() => ({ status: 200, headers: { "x-broken": "a\nb" }, body }));
    const response = await one(await listen(toNodeHandler(api)), requestBytes("GET", "/"));
    expect([response.status, response.reason]).toEqual([500, "Internal Server Error"]);
    expect(seen).toEqual({ begun: 0, ended: 1 });
  });

  it("is 500 even if the app itself throws", async () => {
    const api = stubApp(() => {
      throw new TypeError("secret");
    });
    const response = await one(await listen(toNodeHandler(api)), requestBytes("GET", "/"));
    expect(response.status).toBe(500);
    expect(response.body).not.toContain("secret");
  });

  it("is ignored if the host has already responded", async () => {
    const { body, seen } = heldBody();
    const api = stubApp(async () => {
      await nextTurn();
      return { status: 200, headers: {}, body };
    });
    const handler = toNodeHandler(api);
    const port = await listen((incoming, outgoing) => {
      handler(incoming, outgoing);
      outgoing.writeHead(503).end("busy");
    });
    expect(await one(port, requestBytes("GET", "/"))).toMatchObject({ status: 503, body: "busy" });
    expect(api.log.lines).toEqual([]);
    await until(() => seen.ended > 0);
    expect(seen).toEqual({ begun: 0, ended: 1 });
  });
});
