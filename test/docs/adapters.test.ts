import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express, { type Express } from "express";
import { Hono } from "hono";
import { entity, expressAdapter, type Keelson, keelson, memoryDriver, noopLogger, string } from "keelson";
import type { ExpressHandler } from "keelson/express";
import type { HonoHandler } from "keelson/hono";
import type { NextHandlers } from "keelson/next";
import type { Graceful, Served } from "keelson/node";
import { NextRequest } from "next/server.js";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { listen } from "../adapters/listen.ts";
import { request } from "../support/http.ts";
import { openPage } from "../support/page.ts";

const guide = openPage("guides/adapters");
afterAll(guide.remove);

function createApi(): Keelson {
  const note = entity("note", { text: string }).rules({ read: ["authenticated"] });
  const driver = memoryDriver({ note: [{ id: "n1", text: "Hello" }] });
  const api = keelson({ entities: [note], driver, logger: noopLogger });
  onTestFinished(() => api.close());
  return api as unknown as Keelson;
}

/** Status of the response, and its text if it is not an error of the API. */
async function get(listener: RequestListener, path: string, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${await listen(listener)}${path}`, { headers });
  return response.status === 200 ? await response.text() : response.status;
}

describe("docs/guides/adapters.md", () => {
  it("serves an API on node", async () => {
    vi.stubEnv("PORT", "0");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { start } = await guide.load<{ start(api: Keelson): Promise<Served> }>("serve(api");
    const { url, close } = await start(createApi());
    onTestFinished(close);
    expect((await request(url, "GET", "/api/notes")).status).toBe(401);
  });

  it("serves an API on Express and on Hono, next to other routes", async () => {
    const onExpress = await guide.load<{ createApp(api: Keelson): Express }>("express()");
    const onHono = await guide.load<{ createApp(api: Keelson): Hono }>("cors(");
    for (const app of [
      onExpress.createApp(createApi()) as RequestListener,
      getRequestListener(onHono.createApp(createApi()).fetch),
    ]) {
      expect(await get(app, "/api/notes")).toBe(401);
      expect(await get(app, "/health/live")).toBe('{"status":"ok"}');
      expect(await get(app, "/about")).toBe("mine");
    }
  });

  it("serves an API as a route of Hono", async () => {
    const { createApp } = await guide.load<{ createApp(api: Keelson): Hono }>("honoAdapter<Hono>");
    const app = getRequestListener(createApp(createApi()).fetch);
    expect(await get(app, "/v1/notes")).toBe(401);
    expect(await get(app, "/v1/health/live")).toBe('{"status":"ok"}');
    expect(await get(app, "/api/notes")).toBe(404);
  });

  it("serves an API in a route file of Next", async () => {
    const { dynamic, GET, POST } = await guide.load<NextHandlers & { dynamic: string }>("force-dynamic");
    const context = { params: Promise.resolve({ path: ["notes"] }) };
    const headers = { "content-type": "application/json" };
    const body = '{"text":"Hello"}';
    const created = await POST(new NextRequest("http://site/api/notes", { method: "POST", body, headers }), context);
    expect([created.status, created.headers.get("location")]).toEqual([201, expect.stringMatching(/^\/api\/notes\//)]);
    expect(await (await GET(new NextRequest("http://site/api/notes"), context)).json()).toHaveLength(1);
    expect(dynamic).toBe("force-dynamic");
  });

  it("creates an API once, without a database during a Next build", async () => {
    vi.stubEnv("NEXT_PHASE", "phase-production-build");
    const kept = globalThis as { notesApi?: Keelson };
    onTestFinished(() => {
      vi.unstubAllEnvs();
      delete kept.notesApi;
    });
    const { api } = await guide.load<{ api: Keelson }>("NEXT_PHASE");
    onTestFinished(() => api.close());
    await api.ready;
    expect([api.driver.name, kept.notesApi]).toEqual(["memory", api]);
  });

  it("stops an Express server on signals", async () => {
    vi.stubEnv("PORT", "0");
    const { start } = await guide.load<{ start(app: Express, api: Keelson): Graceful & { server: Server } }>(
      "gracefully(",
    );
    const api = createApi();
    const before = process.listenerCount("SIGTERM");
    const { server, close } = start(express().use(expressAdapter(api)), api);
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await close();
    });
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    expect((await request(`http://127.0.0.1:${port}`, "GET", "/api/notes")).status).toBe(401);
    expect(process.listenerCount("SIGTERM")).toBe(before + 1);
    await close();
    expect([server.listening, process.listenerCount("SIGTERM")]).toEqual([false, before]);
    expect((await api.fetch(new Request("http://test.invalid/api/notes"))).status).toBe(503);
  });

  it("authenticates callers by the framework's own request", async () => {
    const { adapters } = await guide.load<{
      adapters(api: Keelson): {
        node: RequestListener;
        express: ExpressHandler;
        hono: HonoHandler;
        next: NextHandlers;
      };
    }>("sessions");
    const made = adapters(createApi());
    for (const listener of [
      made.node,
      express().use(made.express) as RequestListener,
      getRequestListener(new Hono().use(made.hono).fetch),
    ]) {
      expect(await get(listener, "/api/notes/n1", { "x-session": "s1" })).toContain("Hello");
      expect(await get(listener, "/api/notes/n1")).toBe(401);
    }
    const status = async (headers: Record<string, string>) => {
      const context = { params: Promise.resolve({ path: ["notes", "n1"] }) };
      return (await made.next.GET(new NextRequest("http://site/api/notes/n1", { headers }), context)).status;
    };
    expect([await status({ "x-session": "s1" }), await status({})]).toEqual([200, 401]);
  });
});
