import { NextRequest } from "next/server.js";
import { describe, expect, it } from "vitest";
import { toNextHandler } from "../../../src/adapters/next/index.ts";
import type { KernelRequest } from "../../../src/kernel/index.ts";
import { createContractApp } from "../../support/contract-app.ts";
import { heldBody, readBody, reply, stubApp } from "../stub-app.ts";

const echo = stubApp(async (request) => {
  const { method, url, base } = request;
  return reply({ method, url, base, body: await readBody(request).catch((error) => error.code) });
});

/** How Next calls the handlers of a route file. */
type Route = (request: NextRequest, context: { params: Promise<{ path: string[] }> }) => Promise<Response>;

const segments = (...path: string[]) => ({ params: Promise.resolve({ path }) });
const site = "http://site.example";

describe("toNextHandler", () => {
  it("has a handler for each method that Next supports, and nothing else", async () => {
    const handlers = toNextHandler(echo);
    expect(Object.keys(handlers)).toEqual(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);
    for (const [method, handler] of Object.entries(handlers)) {
      const route: Route = handler;
      const response = await route(new NextRequest(`${site}/api/films`, { method }), segments("films"));
      expect(await response.json()).toMatchObject({ method, url: "/films", base: "/api" });
    }
  });

  it("handles requests below its folder", async () => {
    const { GET } = toNextHandler(echo);
    const answer = async (path: string, ...rest: string[]) =>
      (await GET(new Request(site + path), segments(...rest))).json();
    expect(await answer("/api/films/f1?x=%41", "films", "f1")).toMatchObject({ base: "/api", url: "/films/f1?x=%41" });
    expect(await answer("/v1/deep/films", "films")).toMatchObject({ base: "/v1/deep", url: "/films" });
    expect(await answer("/docs/api/films", "films")).toMatchObject({ base: "/docs/api", url: "/films" });
    expect(await answer("/films", "films")).toEqual({ method: "GET", url: "/films" });
    expect(await answer("/api/films/a%2Fb", "films", "a/b")).toMatchObject({ base: "/api", url: "/films/a%2Fb" });
    expect(await answer("/api/films/", "films")).toMatchObject({ base: "/api", url: "/films/" });
  });

  it("passes on slashes that Next would have redirected", async () => {
    const { GET } = toNextHandler(echo);
    const answer = async (path: string, ...rest: string[]) =>
      (await GET(new Request(site + path), segments(...rest))).json();
    expect(await answer("/api//films", "films")).toMatchObject({ base: "/api", url: "//films" });
    expect(await answer("/api/films//f1", "films", "f1")).toMatchObject({ base: "/api", url: "/films//f1" });
    expect(await answer("/api/films//", "films")).toMatchObject({ base: "/api", url: "/films//" });
    expect(await answer("/films", "a", "film", "more")).toEqual({ method: "GET", url: "/films" });
  });

  it("counts only the segments of the catch-all parameter, under any name", async () => {
    const { GET } = toNextHandler(echo);
    const answer = async (path: string, params: Record<string, string | string[] | undefined>) =>
      (await GET(new Request(site + path), { params: Promise.resolve(params) })).json();
    expect(await answer("/acme/api/films/f1", { tenant: "acme", rest: ["films", "f1"] })).toMatchObject({
      base: "/acme/api",
      url: "/films/f1",
    });
    expect(await answer("/api", { path: undefined })).toMatchObject({ base: "/api", url: "/" });
  });

  it("handles requests under another path with an option", async () => {
    const at = async (base: string, path: string) =>
      (await toNextHandler(echo, { base }).GET(new Request(site + path), segments("films"))).json();
    expect(await at("", "/api/films")).toEqual({ method: "GET", url: "/api/films" });
    expect(await at("/v1", "/v1/api/films")).toMatchObject({ base: "/v1", url: "/api/films" });
    expect(await at("/v1", "/v10/films")).toMatchObject({ base: "/v1", url: "/v10/films" });
  });

  it("accepts a base with a trailing slash, and refuses one that is not a path", async () => {
    const at = async (base: string, path: string) =>
      (await toNextHandler(echo, { base }).GET(new Request(site + path), segments("films"))).json();
    expect(await at("/v1/", "/v1/films")).toMatchObject({ base: "/v1", url: "/films" });
    expect(await at("/", "/api/films")).toEqual({ method: "GET", url: "/api/films" });
    expect(() => toNextHandler(echo, { base: "v1" })).toThrow('`base` "v1" must be a path such as /v1');
  });

  it("passes Next's own request to getUser and handlers", async () => {
    const api = stubApp(async (request: KernelRequest) =>
      reply(await (request.getUser as (raw: unknown) => unknown)(request.raw)),
    );
    const getUser = (request: NextRequest) => ({
      id: request.cookies.get("user")?.value,
      at: request.nextUrl.pathname,
    });
    const { GET } = toNextHandler(api, { getUser });
    const request = new NextRequest(`${site}/api/films`, { headers: { cookie: "user=ada" } });
    expect(await (await GET(request, segments("films"))).json()).toEqual({ id: "ada", at: "/api/films" });
  });

  it("prefers its own getUser to the app's, and passes it only the adapter's request", async () => {
    const api = await createContractApp();
    const { GET } = toNextHandler(api, { getUser: (request) => (request.headers.has("x-ada") ? { id: "ada" } : null) });
    const status = async (headers: Record<string, string>) =>
      (await GET(new Request(`${site}/api/notes`, { headers }), segments("notes"))).status;
    expect(await status({ "x-ada": "1" })).toBe(200);
    expect(await status({ authorization: "Bearer ada" })).toBe(401);
    await api.close();
  });

  it("writes paths as clients see them, also under Next's basePath", async () => {
    const api = await createContractApp();
    const { POST } = toNextHandler(api);
    const request = new NextRequest(`${site}/docs/api/films`, {
      method: "POST",
      body: '{"title":"Dune"}',
      headers: { authorization: "Bearer ada", "content-type": "application/json" },
      nextConfig: { basePath: "/docs" },
    });
    const response = await POST(request, segments("films"));
    const { id } = (await response.json()) as { id: string };
    expect([response.status, response.headers.get("location")]).toEqual([201, `/docs/api/films/${id}`]);
    await api.close();
  });

  it("fails without waiting if the body was read before", async () => {
    const { POST } = toNextHandler(echo);
    const request = new Request(`${site}/api/films`, { method: "POST", body: "{}" });
    await request.text();
    expect(await (await POST(request, segments("films"))).json()).toMatchObject({ body: "CONFIGURATION_ERROR" });
  });

  it("cancels an unread stream when the client disconnects", async () => {
    for (const leaves of ["while the app works", "after it has answered"]) {
      const client = new AbortController();
      const { body, seen } = heldBody();
      const api = stubApp(() => {
        if (leaves === "while the app works") client.abort();
        return { status: 200, headers: {}, body };
      });
      await toNextHandler(api).GET(new Request(`${site}/api`, { signal: client.signal }), segments());
      client.abort();
      await expect.poll(() => seen).toEqual({ begun: 0, ended: 1 });
    }
  });

  it("passes the client's signal on", async () => {
    const client = new AbortController();
    const api = stubApp(({ signal }) => {
      client.abort();
      return reply(signal?.aborted);
    });
    const answer = await toNextHandler(api).GET(new Request(`${site}/api`, { signal: client.signal }), segments());
    expect(await answer.json()).toBe(true);
  });
});
