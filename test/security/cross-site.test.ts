import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve } from "../../src/adapters/node/index.ts";
import {
  action,
  createPlugin,
  endpoint,
  entity,
  expressAdapter,
  honoAdapter,
  type KeelsonConfig,
  keelson,
  memoryDriver,
  noopLogger,
  string,
  toNextHandler,
} from "../../src/index.ts";

// A page of another site sends requests with the caller's cookies (docs/adr/0041-refuse-unsafe-requests-from-other-sites.md).

let done = 0;
const note = entity("note", { text: string })
  .rules({ read: ["everyone"], create: ["authenticated"], update: ["authenticated"], delete: ["authenticated"] })
  .actions({
    publish: action()
      .rules("authenticated")
      .handler(() => ({ done: ++done })),
  });
const desk = createPlugin({
  id: "desk",
  endpoints: {
    ring: endpoint("/desk/ring", { method: "POST", rules: ["everyone"], handler: () => ({ done: ++done }) }),
  },
});
const appWith = (config: Partial<KeelsonConfig> = {}) =>
  keelson({
    entities: [note],
    driver: memoryDriver(),
    logger: noopLogger,
    plugins: [desk],
    getUser: ({ headers }) => ((headers.get("cookie") ?? headers.get("authorization")) ? { id: "ann" } : null),
    ...config,
  });
const api = appWith();
const origin = "https://app.example";
const trusting = appWith({ trustedOrigins: [origin] });
const open = appWith({ trustedOrigins: "all" });
afterAll(() => Promise.all([api.close(), trusting.close(), open.close()]));

const cookie = { cookie: "session=ann" };
const foreign = { ...cookie, "sec-fetch-site": "cross-site", origin };
const form = { "content-type": "application/x-www-form-urlencoded" };
type Headers = Readonly<Record<string, string>>;
type Send = (method: string, path: string, headers: Headers) => Promise<number>;
const sendTo =
  (app: typeof api): Send =>
  async (method, path, headers) =>
    (await app.fetch(new Request(`http://localhost${path}`, { method, headers }))).status;

const publish = ["POST", "/api/notes/publish"] as const;

/** The server of each adapter, on a free port. */
const SERVERS: Record<string, () => Promise<{ port: number; close(): unknown }>> = {
  node: async () => {
    const { port, close } = await serve(appWith(), { port: 0, hostname: "127.0.0.1", signals: false });
    return { port, close };
  },
  express: () => listening(express().use(expressAdapter(appWith())).listen(0, "127.0.0.1")),
  hono: () => listening(createAdaptorServer({ fetch: new Hono().use(honoAdapter(appWith())).fetch }).listen(0)),
};
async function listening(server: { once: unknown; address(): unknown; close(): unknown }) {
  await once(server as never, "listening");
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

describe.each(Object.keys(SERVERS))("on %s", (name) => {
  let server: { port: number; close(): unknown };
  beforeAll(async () => {
    server = await (SERVERS[name] as (typeof SERVERS)[string])();
  });
  afterAll(() => server.close());

  it("refuses unsafe requests of other sites and forms, not those of its own pages", async () => {
    const send: Send = async (method, path, headers) =>
      (await fetch(`http://127.0.0.1:${server.port}${path}`, { method, headers })).status;
    const before = done;
    // The platform's fetch does not set Sec-Fetch-Site, so the test can set it.
    expect(await send(...publish, foreign)).toBe(403);
    expect(await send("POST", "/desk/ring", foreign)).toBe(403);
    expect(await send(...publish, { ...cookie, ...form })).toBe(403);
    expect(done).toBe(before);
    expect(await send(...publish, cookie)).toBe(200);
  });
});

it("refuses unsafe requests of other sites behind a Next handler", async () => {
  const { POST } = toNextHandler(api);
  const asked = new Request("http://localhost/api/notes/publish", { method: "POST", headers: foreign });
  expect((await POST(asked, { params: Promise.resolve({ path: ["notes", "publish"] }) })).status).toBe(403);
});

describe("a request that changes something", () => {
  const send = sendTo(api);
  it.each(["POST", "PUT", "PATCH", "DELETE"])(
    "is refused as %s of another site, on every kind of route",
    async (method) => {
      const path = method === "POST" ? "/api/notes/publish" : "/api/notes/n";
      expect(await send(method, path, foreign)).toBe(403);
      expect(await send(method, path, { ...foreign, "content-type": "application/json" })).toBe(403);
    },
  );

  it("gets a response that says what to do", async () => {
    const response = await api.fetch(
      new Request("http://localhost/api/notes/publish", { method: "POST", headers: foreign }),
    );
    expect(await response.json()).toMatchObject({
      code: "FORBIDDEN",
      message: expect.stringContaining("trustedOrigins"),
    });
  });

  it.each(["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "Text/Plain;charset=UTF-8"])(
    "is refused as a form: %s",
    async (type) => {
      for (const headers of [cookie, { "sec-fetch-site": "same-site" }, { origin }])
        expect(await send(...publish, { ...headers, "content-type": type })).toBe(403);
    },
  );

  it("is accepted from the same origin, the same site, and clients other than browsers", async () => {
    for (const site of ["same-origin", "same-site", "none"])
      expect(await send(...publish, { ...cookie, "sec-fetch-site": site })).toBe(200);
    expect(await send(...publish, { ...cookie, ...form, "sec-fetch-site": "same-origin" })).toBe(200);
    expect(await send("POST", "/desk/ring", form)).toBe(200); // a webhook
  });

  it("is accepted from another site with a bearer token, which browsers never add", async () => {
    const { cookie: _, ...page } = foreign;
    expect(await send(...publish, { ...page, authorization: "Bearer ann" })).toBe(200);
    expect(await send(...publish, { ...page, authorization: "Basic YTpi" })).toBe(403);
  });

  it("is accepted from trusted origins, and from any origin when the check is off", async () => {
    expect(await sendTo(trusting)(...publish, foreign)).toBe(200);
    expect(await sendTo(trusting)(...publish, { ...foreign, origin: "https://other.example" })).toBe(403);
    expect(await sendTo(open)(...publish, { ...foreign, ...form, origin: "null" })).toBe(200);
  });
});

it("reads of other sites are accepted: CORS restricts what their pages see", async () => {
  for (const method of ["GET", "HEAD", "OPTIONS"])
    expect(await sendTo(api)(method, "/api/notes", foreign)).toBeLessThan(300);
});

it.each([["https://app.example/"], ["app.example"], ["*"]])(
  "trustedOrigins that no browser sends stop the start: %s",
  (given) => {
    expect(() => appWith({ trustedOrigins: [given] })).toThrow(/trustedOrigins must be "all" or a list of origins/);
  },
);
