import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  createRemoteJoiner,
  getRemoteRelationFields,
  hasRemoteRelations,
  httpService,
  memoryDriver,
  ServiceContainer,
  splitIncludes,
  validateRemoteRelations,
} from "../../src/index.ts";
import { request } from "../support/http.ts";
import { plan, subscription } from "../support/remote/billing-entities.ts";
import { type BillingProcess, startBilling } from "../support/remote/billing-process.ts";
import { customer, person, startShop } from "../support/remote/shop.ts";

// Section 4.4 of the specification, between two processes over HTTP: the subscriptions are in the other one.

const customers = [
  { id: "c1", name: "Ann", subscriptionId: "s1", formerId: "s2", agentId: "eve", friendId: "eve" },
  { id: "c2", name: "Bob", subscriptionId: "s1", agentId: "nobody" },
  { id: "c3", name: "Cid", subscriptionId: "s3" },
  { id: "c4", name: "Dan", subscriptionId: "missing" },
  { id: "c5", name: "Eva" },
];
const s1 = expect.objectContaining({ id: "s1", status: "state 1", planId: "p1" });
const s3 = expect.objectContaining({ id: "s3", status: "state 3" });
const eve = expect.objectContaining({ id: "eve", name: "Eve" });

let billing: BillingProcess;
let shop: Awaited<ReturnType<typeof startShop>>;
beforeAll(async () => {
  billing = await startBilling();
});
afterAll(() => billing.kill());
beforeEach(async () => {
  shop = await startShop({ services: { billing: () => httpService({ baseUrl: billing.baseUrl }) }, customers });
  await billing.setMood("answers");
});
afterEach(() => shop.close());

const get = (path: string) => request(shop.url, "GET", `/api/customers${path}`);
const ofEach = (json: Record<string, unknown>[], field: string): unknown[] => json.map((record) => record[field]);

describe("4.4 rule 1", () => {
  it("joins a remote relation into each record of a list, under its field name", async () => {
    const { status, json } = await get("?include=subscription");
    expect(status).toBe(200);
    expect(ofEach(json, "subscription")).toEqual([s1, s1, s3, null, null]);
    expect(ofEach(json, "subscriptionId")).toEqual(["s1", "s1", "s3", "missing", null]);
  });

  it("joins it into a single record", async () => {
    expect((await get("/c3?include=subscription")).json).toMatchObject({ id: "c3", subscription: { id: "s3" } });
    expect((await get("/c4?include=subscription")).json).toMatchObject({ id: "c4", subscription: null });
  });

  it("joins several, separated by commas", async () => {
    const { json } = await get("/c1?include=subscription,former,agent,friend");
    expect(json).toMatchObject({ subscription: s1, former: { id: "s2" }, agent: eve, friend: eve });
  });

  it("joins a remote record's own includes in turn", async () => {
    const { json } = await get("/c1?include=subscription.plan");
    expect(json.subscription).toMatchObject({ id: "s1", plan: { id: "p1", name: "Plan 1" } });
  });
});

describe("4.4 rule 2", () => {
  it("collects the keys of all records into one call: each once, without null keys", async () => {
    await get("?include=subscription");
    expect((await billing.asked()).map((ids) => ids.sort())).toEqual([["missing", "s1", "s3"]]);
  });

  it("separates remote relations from local ones", async () => {
    const { json } = await get("?include=friend,subscription");
    expect(ofEach(json, "friend")).toEqual([eve, null, null, null, null]);
    expect(ofEach(json, "subscription")).toEqual([s1, s1, s3, null, null]);
    const [target = "", ...others] = await billing.targets();
    expect(others).toEqual([]);
    expect(target).toMatch(/^\/api\/subscriptions\?/);
    expect(target).not.toContain("friend");
  });

  it("attaches records by their key, in any order of arrival", async () => {
    const { json } = await get("?include=subscription&_sort=-id");
    expect(ofEach(json, "subscription")).toEqual([null, null, s3, s1, s1]);
  });

  it("requests only the records of the page", async () => {
    await get("?include=subscription&_start=2&_limit=1");
    expect(await billing.asked()).toEqual([["s3"]]);
  });
});

describe("4.4 rule 3", () => {
  it("calls the service that is registered under the relation's name", async () => {
    const other = await startShop({
      services: { billing: () => ({ fetchByIds: (_entity, ids) => ids.map((id) => ({ id, status: "elsewhere" })) }) },
      customers,
    });
    const { json } = await request(other.url, "GET", "/api/customers/c1?include=subscription");
    expect(json.subscription).toMatchObject({ id: "s1", status: "elsewhere" });
    expect(await billing.asked()).toEqual([]);
    await other.close();
  });

  it("creates the service on first use, and once", async () => {
    let made = 0;
    const make = () => {
      made++;
      return httpService({ baseUrl: billing.baseUrl });
    };
    const other = await startShop({ services: { billing: make }, customers });
    expect(made).toBe(0);
    for (const id of ["c1", "c3"]) await request(other.url, "GET", `/api/customers/${id}?include=subscription`);
    expect(made).toBe(1);
    await other.close();
  });

  it("calls the default driver if the relation names no service", async () => {
    const { json } = await get("?include=agent");
    expect(ofEach(json, "agent")).toEqual([eve, null, null, null, null]);
    expect(await billing.asked()).toEqual([]);
  });
});

describe("4.4 rule 4", () => {
  it("makes the field null when the service fails, logs it, and responds with 200", async () => {
    await billing.setMood("fails");
    const { status, headers, json } = await get("?include=subscription,friend");
    expect([status, headers.get("x-remote-errors")]).toEqual([200, "subscription;error"]);
    expect(ofEach(json, "subscription")).toEqual([null, null, null, null, null]);
    expect(ofEach(json, "friend")).toEqual([eve, null, null, null, null]);
    const [line, ...others] = shop.lines.filter((text) => text.startsWith("Remote join failed"));
    expect(others).toEqual([]);
    expect(line).toContain('"relation":"subscription"');
    expect(line).not.toContain("missing");
  });

  it("does so for a single record too, and joins again when the service is back", async () => {
    await billing.setMood("fails");
    expect(await get("/c1?include=subscription")).toMatchObject({
      status: 200,
      json: { name: "Ann", subscription: null },
    });
    await billing.setMood("answers");
    expect(await get("/c1?include=subscription")).toMatchObject({ status: 200, json: { subscription: { id: "s1" } } });
  });

  it("does so for a service that never responds", async () => {
    await billing.setMood("hangs");
    const impatient = await startShop({
      services: { billing: () => httpService({ baseUrl: billing.baseUrl }) },
      customers,
      remoteJoins: { timeout: 200 },
    });
    const { status, headers, json } = await request(impatient.url, "GET", "/api/customers?include=subscription");
    expect([status, headers.get("x-remote-errors")]).toEqual([200, "subscription;timeout"]);
    expect(ofEach(json, "subscription")).toEqual([null, null, null, null, null]);
    await impatient.close();
  });

  it("does so for a service whose process was killed", async () => {
    const doomed = await startBilling();
    const other = await startShop({ services: { billing: () => httpService({ baseUrl: doomed.baseUrl }) }, customers });
    const ask = () => request(other.url, "GET", "/api/customers/c1?include=subscription,agent");
    expect((await ask()).json.subscription).toEqual(s1);
    await doomed.kill();
    const { status, headers, json } = await ask();
    expect([status, headers.get("x-remote-errors")]).toEqual([200, "subscription;unavailable"]);
    expect(json).toMatchObject({ name: "Ann", subscription: null, agent: eve });
    await other.close();
  });
});

describe("4.4 rule 5", () => {
  it("calls no service without include", async () => {
    for (const path of ["", "/c1", "?name=Ann", "?include=friend"]) {
      const { status, json } = await get(path);
      expect(status).toBe(200);
      for (const record of [json].flat()) expect(record).not.toHaveProperty("subscription");
    }
    expect(await billing.asked()).toEqual([]);
  });
});

describe("4.4, the joiner's helpers", () => {
  const entities = [customer, person, subscription, plan];
  const containerWith = (...names: string[]) => {
    const container = new ServiceContainer();
    for (const name of names) container.register(name, () => httpService({ baseUrl: billing.baseUrl }));
    return container;
  };

  it("createRemoteJoiner(options?).stitch returns the records with remote data", async () => {
    const joiner = createRemoteJoiner({ batchSize: 2, timeout: 5_000, cache: true });
    const driver = memoryDriver({ person: [{ id: "eve", name: "Eve" }] });
    const options = {
      entities: new Map(entities.map((one) => [one.name, one])),
      container: containerWith("billing"),
      driver,
    };
    const stitched = await joiner.stitch(customers, customer, { subscription: true }, options);
    expect(ofEach(stitched, "subscription")).toEqual([s1, s1, s3, null, null]);
    expect((await billing.asked()).map(({ length }) => length).sort()).toEqual([1, 2]);
    expect(customers[0]).not.toHaveProperty("subscription");
  });

  it("hasRemoteRelations and getRemoteRelationFields return the remote relations", () => {
    expect([hasRemoteRelations(customer), hasRemoteRelations(person)]).toEqual([true, false]);
    expect(getRemoteRelationFields(customer)).toEqual(["subscription", "former", "agent"]);
    expect(getRemoteRelationFields(person)).toEqual([]);
  });

  it("splitIncludes separates remote relations from local ones", () => {
    expect(splitIncludes(customer, { subscription: true, friend: true })).toEqual({
      local: { friend: true },
      remote: { subscription: true },
    });
  });

  it("validateRemoteRelations throws when a service is missing", () => {
    expect(() => validateRemoteRelations(entities, containerWith("billing"))).not.toThrow();
    expect(() => validateRemoteRelations(entities, containerWith("other"))).toThrow(/customer\.subscription.*billing/s);
  });
});
