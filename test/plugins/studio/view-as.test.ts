import { once } from "node:events";
import type { AddressInfo } from "node:net";
import express from "express";
import { createPlugin, entity, keelson, memoryDriver, noopLogger, string } from "keelson";
import { audit } from "keelson/audit";
import { expressAdapter } from "keelson/express";
import { type StudioOptions, studio } from "keelson/studio";
import { describe, expect, it, onTestFinished } from "vitest";
import { createShop, people } from "../../support/studio/shop.ts";

const viewAs: StudioOptions["viewAs"] = (id) => people.get(id) ?? null;

async function shopWith(options: StudioOptions = { viewAs }, given: Parameters<typeof createShop>[1] = {}) {
  const api = await createShop(options, given);
  onTestFinished(() => api.close());
  const send = async (path: string, token?: string, init: RequestInit = {}) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await api.fetch(new Request(`http://localhost${path}`, { ...init, headers }));
    const text = await response.text();
    return {
      status: response.status,
      text,
      json: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : {},
    };
  };
  return { api, send };
}

const PATHS = [
  "/products?weight_gte=40&_sort=-weight&include=maker",
  "/products/p10",
  "/products/aggregate?group=state&sum=weight",
  "/makers",
  "/vaults",
  "/audit-entries",
  "/products?purchase_gte=1",
  "/workflow-runs",
  "/products/none",
  "/nothing",
];

describe("the view as another user", () => {
  it("gets the responses that this user would get", async () => {
    const { send } = await shopWith();
    for (const path of PATHS) {
      const [own, seen] = [await send(`/api${path}`, "ann"), await send(`/studio/as/ann${path}`, "root")];
      const withoutId = ({ requestId: _, ...rest }: Record<string, unknown>) => rest;
      expect([path, seen.status, seen.status < 400 ? seen.text : withoutId(seen.json)]).toEqual([
        path,
        own.status,
        own.status < 400 ? own.text : withoutId(own.json),
      ]);
    }
  });

  it("describes the app as the user sees it, without writes", async () => {
    const { send } = await shopWith();
    const { json } = await send("/studio/as/ann", "root");
    expect(json).toMatchObject({ caller: { id: "ann", isAdmin: false }, viewedAs: "ann", api: "/studio/as/ann" });
    const own = (await send("/studio/app.json", "ann")).json;
    const names = (document: { entities: { name: string }[] }) => document.entities.map(({ name }) => name);
    expect(names(json)).toEqual(names(own));
    for (const entity of json.entities) {
      expect(Object.keys(entity.rights).filter((right) => /create|update|delete/.test(right))).toEqual([]);
      expect(entity.fields.filter(({ write }: { write?: string }) => write !== undefined)).toEqual([]);
      expect(entity.actions).toEqual([]);
    }
    expect(json.keys).toBeUndefined();
  });

  it("is for administrators only", async () => {
    const { send } = await shopWith();
    for (const path of ["/studio/as/ann", "/studio/as/root/products"]) {
      expect((await send(path)).status).toBe(401);
      expect((await send(path, "ann")).status).toBe(403);
    }
    const open = await shopWith({ viewAs, rules: ["authenticated"] });
    expect((await open.send("/studio/as/root/products", "ann")).status).toBe(403);
  });

  it("requires a user that exists, and that this administrator may read", async () => {
    const asked: unknown[] = [];
    const { send } = await shopWith({
      viewAs(id, viewer) {
        asked.push([id, viewer.id]);
        return id === "other" ? { id: "ann" } : null;
      },
    });
    for (const id of ["ann", "other"]) expect((await send(`/studio/as/${id}/products`, "root")).status).toBe(404);
    expect(asked).toEqual([
      ["ann", "root"],
      ["other", "root"],
    ]);
  });

  it("refuses every write, and actions, whose code may do anything", async () => {
    const { api, send } = await shopWith();
    const before = await api.asSystem().product.get("p10");
    for (const method of ["POST", "PUT", "PATCH", "DELETE"])
      expect((await send("/studio/as/root/products/p10", "root", { method, body: "{}" })).status).toBe(405);
    for (const path of ["p10/touch", "count", "export"])
      expect((await send(`/studio/as/ann/products/${path}`, "root")).status).toBe(403);
    expect(await api.asSystem().product.get("p10")).toEqual(before);
    expect((await send("/api/products/p10/touch", "ann")).status).toBe(200);
  });

  it("refuses writes by hooks during reads", async () => {
    const visit = entity("visit", { of: string });
    const page = entity("page", { text: string }).rules({ read: ["authenticated"] });
    const counting = createPlugin({
      id: "counting",
      hooks: {
        "operation:plan": ({ entity: read, scope }) =>
          read.name === "page"
            ? scope.asSystem(
                async ({ driver }) => void (await driver.create("visit", { id: scope.requestId, of: "page" })),
              )
            : undefined,
      },
    });
    const api = keelson({
      entities: [visit, page],
      driver: memoryDriver(),
      logger: noopLogger,
      plugins: [audit(), counting, studio({ viewAs: (id) => ({ id }) })],
      getUser: ({ headers }) => (headers.get("authorization") === "x" ? { id: "root", role: "admin" } : null),
    });
    onTestFinished(() => api.close());
    const get = async (path: string) =>
      (await api.fetch(new Request(`http://localhost${path}`, { headers: { authorization: "x" } }))).status;
    expect(await get("/studio/as/ann/pages")).toBe(403);
    expect(await api.asSystem().visit.count()).toBe(0);
    expect(await get("/api/pages")).toBe(200);
    expect(await api.asSystem().visit.count()).toBe(1);
  });

  it("writes an audit entry for each request before the response", async () => {
    const { send } = await shopWith();
    await send("/studio/as/ann", "root");
    await send("/studio/as/ann/products/p10?select=name", "root");
    await send("/studio/as/ann/vaults", "root");
    const { json } = await send("/api/audit-entries?operation=view-as&_sort=at", "root");
    expect(json).toMatchObject([
      { actorId: "root", entity: "user", recordId: "ann", action: "GET /", changed: [] },
      { actorId: "root", recordId: "ann", action: "GET /products/p10" },
      { actorId: "root", recordId: "ann", action: "GET /vaults" },
    ]);
  });

  it("covers the API's data, and not other routes or files", async () => {
    const { send } = await shopWith();
    for (const path of ["/health/ready", "/studio/app.json", "/as/ann/products", "/openapi.json"])
      expect([path, (await send(`/studio/as/root${path}`, "root")).status]).toEqual([path, 404]);
    expect((await send("/studio/as/ann/products/a%2fb", "root")).status).toBe(400);
  });

  it("is disabled without the option, and in production without rules", async () => {
    const { send } = await shopWith({});
    expect((await send("/studio/as/ann/products", "root")).status).toBe(404);
    expect((await send("/studio/app.json", "root")).json.viewAs).toBeUndefined();
    const closed = await shopWith({ viewAs }, { production: true });
    expect((await closed.send("/studio/as/ann/products", "root")).status).toBe(404);
    const named = await shopWith({ viewAs, rules: ["admin"] }, { production: true });
    expect((await named.send("/studio/as/ann/products", "root")).status).toBe(200);
    expect((await named.send("/studio/as/ann/products", "ann")).status).toBe(403);
  });

  it("works below a path that the app does not know, and reaches no other route there", async () => {
    const api = await createShop({ viewAs });
    onTestFinished(() => api.close());
    const server = express().use("/v1", expressAdapter(api)).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const get = async (path: string) => {
      const headers = { authorization: "Bearer root" };
      const response = await fetch(`http://127.0.0.1:${port}/v1/studio/as/ann${path}`, { headers });
      return { status: response.status, json: await response.json() };
    };
    expect((await get("")).json).toMatchObject({ api: "/v1/studio/as/ann", viewedAs: "ann" });
    expect((await get("/products/p10")).json).toMatchObject({ name: "Product 10" });
    for (const path of [
      "/studio/app.json",
      "/studio/keys",
      "/studio/as/root/products",
      "/health/ready",
      "/openapi.json",
    ])
      expect([path, (await get(path)).status]).toEqual([path, 403]);
  });

  it("needs the audit log", () => {
    expect(() =>
      keelson({ entities: [], driver: memoryDriver(), logger: noopLogger, plugins: [studio({ viewAs })] }),
    ).toThrow("viewAs needs the plugin audit()");
  });
});
