import type { RequestListener } from "node:http";
import { createRequire } from "node:module";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  belongsTo,
  entity,
  hasMany,
  httpService,
  int,
  keelson,
  memoryDriver,
  noopLogger,
  string,
} from "../../../src/index.ts";
import { listen } from "../../adapters/listen.ts";
import { request, startApp } from "../../support/http.ts";

/** The used parts of json-server, which has no types. */
interface JsonServer {
  create(): RequestListener & { use(router: unknown): void };
  router(data: object): unknown;
}
const require = createRequire(import.meta.url);
const jsonServer = require("json-server") as JsonServer;

const caller = (id: string) => ({
  user: { id },
  header: (name: string) => (name === "authorization" ? `Bearer ${id}` : undefined),
});

describe("httpService against a Keelson server", () => {
  const person = entity("person", { name: string }).rules({ read: ["authenticated"] });
  const feature = entity("feature", { name: string, plan: belongsTo(() => plan) }).rules({ read: ["everyone"] });
  const plan = entity("plan", {
    name: string,
    cost: int.readable("admin"),
    features: hasMany(() => feature),
    owner: belongsTo(() => person),
  })
    .ownedBy("owner")
    .rules({ read: ["ownerOrAdmin"] });

  async function serveBilling(): Promise<string> {
    const api = keelson({
      entities: [plan, person, feature],
      driver: memoryDriver({
        person: ["ann", "bob"].map((id) => ({ id, name: id.toUpperCase() })),
        plan: [
          ...["ann", "bob"].map((ownerId) => ({ id: `of/${ownerId}?`, name: ownerId, cost: 7, ownerId })),
          ...Array.from({ length: 500 }, (_, i) => ({ id: `p${i}`, name: "many", cost: 7, ownerId: "ann" })),
        ],
        feature: [{ id: "f", name: "Chat", planId: "of/ann?" }],
      }),
      getUser: ({ headers }) => {
        const id = headers.get("authorization")?.slice("Bearer ".length);
        return id === undefined ? null : { id, role: id === "shop" ? "admin" : "customer" };
      },
      logger: noopLogger,
    });
    const { url, close } = await startApp(api);
    onTestFinished(close);
    return `${url}/api`;
  }
  const ids = ["of/ann?", "of/bob?", "missing"];
  const names = (records: readonly unknown[]) => records.map((record) => (record as { name: string }).name).sort();

  it("reads what this app may read there", async () => {
    const baseUrl = await serveBilling();
    const asShop = httpService({ baseUrl, headers: { authorization: "Bearer shop" } });
    const records = await asShop.fetchByIds("plan", ids, {
      select: ["id", "name", "cost"],
      include: { features: true, owner: true },
    });
    expect(names(records)).toEqual(["ann", "bob"]);
    expect(records).toContainEqual({
      id: "of/ann?",
      name: "ann",
      cost: 7,
      features: [expect.objectContaining({ name: "Chat" })],
      owner: expect.objectContaining({ name: "ANN" }),
    });
    const asNobody = Promise.resolve(httpService({ baseUrl }).fetchByIds("plan", ids));
    await expect(asNobody).rejects.toThrow("answered with 401");
  });

  it("reads what the caller may read there, when it forwards their identity", async () => {
    const { fetchByIds } = httpService({ baseUrl: await serveBilling(), forward: ["authorization"] });
    expect(names(await fetchByIds("plan", ids, { caller: caller("ann") }))).toEqual(["ann"]);
    expect(names(await fetchByIds("plan", ids, { caller: caller("bob") }))).toEqual(["bob"]);
    await expect(Promise.resolve(fetchByIds("plan", ids))).rejects.toThrow("answered with 401");
  });

  it("gets records without the fields that are hidden from it", async () => {
    const { fetchByIds } = httpService({ baseUrl: await serveBilling(), forward: ["authorization"] });
    const [record] = await fetchByIds("plan", ids, { caller: caller("ann"), select: ["id", "name", "cost"] });
    expect(record).toMatchObject({ id: "of/ann?", name: "ann" });
    expect(record).not.toHaveProperty("cost");
  });

  it("joins only what the caller may read on both sides", async () => {
    const baseUrl = await serveBilling();
    const known = entity("plan", { name: string, cost: int }).rules({ read: ["authenticated"] });
    const order = entity("order", { plan: belongsTo(() => known).remote("billing") }).rules({ read: ["everyone"] });
    const api = keelson({
      entities: [order],
      driver: memoryDriver({ order: ["ann", "bob"].map((id) => ({ id, planId: `of/${id}?` })) }),
      getUser: ({ headers }) => {
        const id = headers.get("authorization")?.slice("Bearer ".length);
        return id === undefined ? null : { id };
      },
      services: { billing: () => httpService({ baseUrl, forward: ["authorization"] }) },
      logger: noopLogger,
    });
    const { url, close } = await startApp(api);
    onTestFinished(close);
    const ask = (token?: string) => request(url, "GET", "/api/orders?include=plan&_sort=id", { token });
    const names = async (token?: string) =>
      (await ask(token)).json.map(({ plan }: { plan: { name: string } | null }) => plan?.name ?? null);
    expect(await Promise.all(["ann", "bob", undefined].map(names))).toEqual([
      ["ann", null],
      [null, "bob"],
      [null, null],
    ]);
  });

  it("reads as many records as requested", async () => {
    const { fetchByIds } = httpService({ baseUrl: await serveBilling(), headers: { authorization: "Bearer shop" } });
    const asked = Array.from({ length: 500 }, (_, i) => `p${i}`);
    const records = (await fetchByIds("plan", asked, { select: ["id"] })) as { id: string }[];
    expect(records.map(({ id }) => id).sort()).toEqual([...asked].sort());
  });
});

describe("httpService against a json-server", () => {
  const plans = Array.from({ length: 300 }, (_, i) => ({ id: i, name: `Plan ${i}` }));
  const orderItems = [{ id: "a&b=c", count: 2 }];
  it("reads records by id, although the server ignores other parameters", async () => {
    const server = jsonServer.create();
    server.use(jsonServer.router({ plans, "order-items": orderItems }));
    const { fetchByIds } = httpService({ baseUrl: `http://127.0.0.1:${await listen(server)}` });
    const shape = { select: ["id", "name"], include: { owner: { city: true } } };
    expect(await fetchByIds("plan", ["2", "0", "missing"], shape)).toEqual([plans[0], plans[2]]);
    expect(await fetchByIds("orderItem", ["a&b=c"], shape)).toEqual(orderItems);
    expect(
      await fetchByIds(
        "plan",
        plans.map(({ id }) => String(id)),
      ),
    ).toHaveLength(300);
  });
});
