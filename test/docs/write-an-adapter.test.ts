import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type ClientHttp2Session, connect, constants, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Keelson } from "../../src/index.ts";
import { request } from "../support/http.ts";
import { openPage } from "../support/page.ts";

const page = openPage("guides/write-an-adapter");
let app: { api: Keelson; server: Http2Server; left: string[] };
let session: ClientHttp2Session;

beforeAll(async () => {
  app = await page.load("server.ts");
  app.server.listen(0, "127.0.0.1");
  await once(app.server, "listening");
  session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
});
afterAll(async () => {
  session.close();
  app.server.close();
  await app.api.close();
  page.remove();
});

interface Answer {
  readonly status: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

async function call(method: string, path: string, body?: string, headers: object = {}): Promise<Answer> {
  const stream = session.request(
    { ":method": method, ":path": path, "content-type": "application/json", ...headers },
    { endStream: body === undefined },
  );
  if (body !== undefined) stream.end(body);
  const [answered] = await once(stream, "response");
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += chunk;
  return { status: answered[":status"], headers: answered, body: text };
}
const ann = { "x-session": "s1" };

describe("the adapter for http2 in docs/guides/write-an-adapter.md", () => {
  it("responds with status, headers and body, as its getUser's caller", async () => {
    const refused = await call("POST", "/api/notes", '{"text":"x"}');
    expect([refused.status, JSON.parse(refused.body).code]).toEqual([401, "UNAUTHENTICATED"]);
    const created = await call("POST", "/api/notes", '{"text":"Hello"}', ann);
    const { id } = JSON.parse(created.body);
    expect([created.status, created.headers.location]).toEqual([201, `/api/notes/${id}`]);
    const head = await call("HEAD", `/api/notes/${id}`);
    expect([head.status, head.body]).toEqual([200, ""]);
    expect(JSON.parse((await call("GET", "/api/notes?text_like=hel")).body)).toMatchObject([{ id }]);
  });

  it("passes on the path as received", async () => {
    const paths = ["/api/x/../notes", "/api//notes", "/api/notes/%zz", "/api/notes/a%20b"];
    const statuses = await Promise.all(paths.map(async (path) => (await call("GET", path)).status));
    expect(statuses).toEqual([400, 400, 400, 404]);
  });

  it("responds to a body that is too large while it still arrives, and continues", async () => {
    const large = await call("POST", "/api/notes", JSON.stringify({ text: "x".repeat(3_000_000) }), ann);
    expect(large.status).toBe(413);
    expect((await call("GET", "/api/notes")).status).toBe(200);
  });

  it("streams exports to their end", async () => {
    const { status, body } = await call("GET", "/api/notes/export?format=ndjson");
    expect([status, JSON.parse(body).text]).toEqual([200, "Hello"]);
  });

  it("resets the stream of a response that fails", async () => {
    const stream = session.request({ ":path": "/ticks?fail" });
    let text = "";
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    stream.on("error", () => {});
    await new Promise((resolve) => stream.once("close", resolve));
    expect(text).toBe("0\n1\n2\n3\n".slice(0, text.length));
    expect([stream.rstCode, app.left.pop()]).toEqual([constants.NGHTTP2_INTERNAL_ERROR, "failed"]);
  });

  it("cancels responses that are no longer read", async () => {
    const stream = session.request({ ":path": "/ticks" });
    await once(stream, "data");
    stream.close(constants.NGHTTP2_CANCEL);
    while (app.left.length === 0) await wait(5);
    expect(app.left.pop()).toBe("client left");
  });
});

describe("docs/guides/write-an-adapter.md", () => {
  it("serves hosts with Request and Response by api.fetch", async () => {
    const { api, host } = await page.load<{ api: Keelson; host: { fetch(request: Request): Promise<Response> } }>(
      "web-host.ts",
    );
    const init = { method: "POST", headers: { "content-type": "application/json", "x-session": "s1" } };
    const answer = await host.fetch(new Request("http://host.example/api/notes", { ...init, body: '{"text":"x"}' }));
    expect(answer.status).toBe(201);
    await api.close();
  });

  it("gives a host on node:http its middleware, which ignores other paths", async () => {
    const { keelsonMiddleware } = await page.load<{
      keelsonMiddleware(api: Keelson): (context: object, next: () => Promise<void>) => Promise<void>;
    }>("node-hosts.ts");
    const handle = keelsonMiddleware(app.api);
    const server = createHttpServer((req, res) => {
      void handle({ req, res }, async () => void res.end('"mine"'));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect((await request(url, "GET", "/api/notes")).json).toMatchObject([{ text: "Hello" }]);
    expect((await request(url, "GET", "/other")).json).toBe("mine");
    server.close();
  });
});
