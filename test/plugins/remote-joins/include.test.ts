import { afterEach, describe, expect, it } from "vitest";
import {
  action,
  belongsTo,
  createPlugin,
  endpoint,
  entity,
  memoryDriver,
  type Row,
  string,
} from "../../../src/index.ts";
import { createTestApp, type TestApp } from "../../../src/testing/index.ts";
import { answering, customers, plan, serviceOf, shop, subscription, type TestService, titled } from "./shop.ts";

const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const app of closing.splice(0)) await app.close();
});

function open<A extends { close(): Promise<void> }>(app: A): A {
  closing.push(app);
  return app;
}

async function rowsOf(app: Pick<TestApp<never>, "as">, path: string): Promise<Row[]> {
  const { status, body } = await app.as(null).request("GET", path);
  expect([status, (body as Row).message]).toEqual([200, undefined]);
  return body as Row[];
}

/** The value of a row's relation. */
function joined(row: Row | undefined, name: string): Row {
  return (row?.[name] ?? {}) as Row;
}

const titles = (rows: readonly Row[]): unknown[] =>
  rows.map(({ subscription: found }) => (found as Row | null)?.title ?? null);

describe("include of a remote relation", () => {
  it("adds the record under the relation's name, in lists and on single records", async () => {
    const app = open(shop(answering({ endsAt: "2026-01-01T00:00:00Z" })));
    const found = { id: "s1", title: "title of s1", endsAt: "2026-01-01T00:00:00.000Z", extra: null, planId: null };
    const expected = { id: "c1", name: "customer 1", subscriptionId: "s1", subscription: found };
    expect((await rowsOf(app, "/api/customers?include=subscription"))[0]).toEqual(expected);
    expect((await app.as(null).request("GET", "/api/customers/c1?include=subscription")).body).toEqual(expected);
  });

  it("does not call the service without it", async () => {
    const billing = answering();
    const app = open(shop(billing));
    expect(await rowsOf(app, "/api/customers")).toEqual(customers(3));
    expect(billing.calls).toEqual([]);
  });

  it("sets no header when nothing failed", async () => {
    const app = open(shop(answering()));
    const { headers } = await app.as(null).request("GET", "/api/customers?include=subscription");
    expect(headers.get("x-remote-errors")).toBeNull();
  });

  it("returns null for a null key and for an id unknown to the service", async () => {
    const billing = serviceOf(({ ids }) => titled(ids.filter((id) => id !== "s2")));
    const driver = memoryDriver({ customer: [...customers(2), { id: "c3", name: "none", subscriptionId: null }] });
    const app = open(shop(billing, { driver }));
    expect(titles(await rowsOf(app, "/api/customers?include=subscription"))).toEqual(["title of s1", null, null]);
    expect(billing.calls.map(({ ids }) => ids)).toEqual([["s1", "s2"]]);
  });

  it("requests 250 ids in batches of 100, 100 and 50, each id once", async () => {
    const billing = answering();
    const rows = customers(250);
    const twice = rows.map((row) => ({ ...row, id: `again-${row.id}` }));
    const driver = memoryDriver({ customer: [...rows, ...twice] });
    const app = open(shop(billing, { driver }));
    const found = await rowsOf(app, "/api/customers?include=subscription&_limit=500");
    expect(billing.calls.map(({ ids }) => ids.length)).toEqual([100, 100, 50]);
    expect(new Set(billing.calls.flatMap(({ ids }) => ids)).size).toBe(250);
    for (const row of found) expect((row.subscription as Row).id).toBe(row.subscriptionId);
  });

  it("sends as many batches at once as `concurrency` says", async () => {
    let active = 0;
    let most = 0;
    const billing = serviceOf(async ({ ids }) => {
      active += 1;
      most = Math.max(most, active);
      await new Promise((resolve) => setTimeout(resolve, 5));
      active -= 1;
      return titled(ids);
    });
    const app = open(shop(billing, { count: 100, remoteJoins: { batchSize: 10, concurrency: 3 } }));
    expect(titles(await rowsOf(app, "/api/customers?include=subscription&_limit=100"))).not.toContain(null);
    expect([billing.calls.length, most]).toEqual([10, 3]);
  });

  it("counts the batches of all its levels towards `concurrency`", async () => {
    let active = 0;
    let most = 0;
    const billing = serviceOf(async ({ ids }) => {
      active += 1;
      most = Math.max(most, active);
      await new Promise((resolve) => setTimeout(resolve, 5));
      active -= 1;
      return titled(ids);
    });
    const side = (name: string) =>
      entity(name, { title: string, subscription: belongsTo(() => subscription).remote("billing") })
        .timestamps(false)
        .rules({ read: ["everyone"] });
    const [left, right] = [side("left"), side("right")];
    const pair = entity("pair", { left: belongsTo(() => left), right: belongsTo(() => right) })
      .timestamps(false)
      .rules({ read: ["everyone"] });
    const driver = memoryDriver({
      left: [{ id: "l1", title: "left", subscriptionId: "s1" }],
      right: [{ id: "r1", title: "right", subscriptionId: "s2" }],
      pair: [{ id: "p1", leftId: "l1", rightId: "r1" }],
    });
    const services = { billing: () => billing };
    const app = open(
      createTestApp({ entities: [left, right, pair], services, driver, remoteJoins: { concurrency: 1 } }),
    );
    const [row] = await rowsOf(app, "/api/pairs?include=left.subscription,right.subscription");
    expect([joined(row, "left").subscription, joined(row, "right").subscription]).toMatchObject(titled(["s1", "s2"]));
    expect([billing.calls.length, most]).toEqual([2, 1]);
  });

  it("hides the key in a response that did not select it", async () => {
    const app = open(shop(answering()));
    const [row] = await rowsOf(app, "/api/customers?include=subscription&select=name");
    expect(Object.keys(row as Row)).toEqual(["id", "name", "subscription"]);
  });

  it("joins the results of create and update", async () => {
    const app = open(shop(answering()));
    const created = await app
      .as(null)
      .request("POST", "/api/customers?include=subscription", { name: "new", subscriptionId: "s9" });
    expect([created.status, (created.body as Row).subscription]).toMatchObject([201, { id: "s9" }]);
    const path = `/api/customers/${(created.body as Row).id}?include=subscription`;
    const updated = await app.as(null).request("PATCH", path, { subscriptionId: "s8" });
    expect([updated.status, (updated.body as Row).subscription]).toMatchObject([200, { id: "s8" }]);
  });

  it("is typed in the in-process client, and masked there too", async () => {
    const app = open(shop(answering({ endsAt: "2026-01-01", secret: "canary" })));
    const { data } = await app.api.as({ id: "u1" }).customer.list({ include: ["subscription"] });
    const endsAt: Date | null | undefined = data[0]?.subscription?.endsAt;
    expect(endsAt).toEqual(new Date("2026-01-01"));
    expect(Object.keys(data[0]?.subscription ?? {})).not.toContain("secret");
  });

  it.each(["subscription.title=x", "subscription=null", "_sort=subscription.title"])(
    "refuses ?%s with an explanation",
    async (search) => {
      const app = open(shop(answering()));
      const { status, body } = await app.as(null).request("GET", `/api/customers?${search}`);
      expect(status).toBe(400);
      expect(JSON.stringify(body)).toContain("is remote: it is fetched after the query");
      expect(JSON.stringify(body)).toContain('\\"subscriptionId\\" can be.');
    },
  );
});

describe("the request to a service", () => {
  async function optionsOf(
    path: string,
    user: { id: string; role?: string } | null,
  ): Promise<TestService["calls"][0]["options"]> {
    const billing = answering();
    const app = open(shop(billing));
    await app.as(user).request("GET", path, undefined, { "x-tenant": "t1" });
    return (billing.calls[0] as TestService["calls"][0]).options;
  }

  it("names the fields that the caller may read, and never a hidden column", async () => {
    const path = "/api/customers?include=subscription";
    expect((await optionsOf(path, null)).select).toEqual(["id", "title", "endsAt", "extra", "planId"]);
    const admin = await optionsOf(path, { id: "a", role: "admin" });
    expect(admin.select).toEqual(["id", "title", "margin", "endsAt", "extra", "planId"]);
  });

  it("names the relations that the service can include", async () => {
    expect((await optionsOf("/api/customers?include=subscription", null)).include).toBeUndefined();
    expect((await optionsOf("/api/customers?include=subscription.plan", null)).include).toEqual({ plan: true });
  });

  it("contains the caller, and the headers they sent", async () => {
    const { caller } = await optionsOf("/api/customers?include=subscription", { id: "u1" });
    expect([caller?.user, caller?.header("X-Tenant"), caller?.header("x-other")]).toEqual([
      { id: "u1" },
      "t1",
      undefined,
    ]);
  });
});

describe("records in remote records", () => {
  it("are validated and masked by their own entity if the service includes them", async () => {
    const inner = { id: 7, title: "Gold", cost: "canary", secret: "canary" };
    const app = open(shop(answering({ planId: "7", plan: inner })));
    const [row] = await rowsOf(app, "/api/customers?include=subscription.plan");
    expect(joined(row, "subscription").plan).toEqual({ id: "7", title: "Gold" });
    const asAdmin = await app
      .as({ id: "a", role: "admin" })
      .request("GET", "/api/customers/c1?include=subscription.plan");
    expect(((asAdmin.body as Row).subscription as Row).plan).toEqual({ id: "7", title: "Gold", cost: "canary" });
  });

  it("are null if they do not match their entity, and the header names their relation", async () => {
    const app = open(shop(answering({ plan: { id: "7", title: 3 } })));
    const { body, headers } = await app.as(null).request("GET", "/api/customers/c1?include=subscription.plan");
    expect((body as Row).subscription).toMatchObject({ id: "s1", plan: null });
    expect(headers.get("x-remote-errors")).toBe("plan;invalid");
  });

  it("are read locally if their service, or their table, is local", async () => {
    const vendor = entity("vendor", { title: string })
      .timestamps(false)
      .rules({ read: ["everyone"] });
    const team = entity("team", { title: string })
      .timestamps(false)
      .rules({ read: ["everyone"] });
    const contract = entity("contract", {
      vendor: belongsTo(() => vendor).remote("vendors"),
      team: belongsTo(() => team).remote(),
    })
      .timestamps(false)
      .rules({ read: ["everyone"] });
    const order = entity("order", { contract: belongsTo(() => contract).remote("contracts") })
      .timestamps(false)
      .rules({ read: ["everyone"] });
    const contracts = serviceOf(({ ids }) => ids.map((id) => ({ id, vendorId: `v-${id}`, teamId: "t1" })));
    const vendors = answering();
    const app = open(
      createTestApp({
        entities: [order, team],
        services: { contracts: () => contracts, vendors: async () => vendors },
        driver: memoryDriver({ order: [{ id: "o1", contractId: "k1" }], team: [{ id: "t1", title: "Sales" }] }),
      }),
    );
    const [row] = await rowsOf(app, "/api/orders?include=contract.vendor,contract.team");
    expect(row?.contract).toEqual({
      id: "k1",
      vendorId: "v-k1",
      teamId: "t1",
      vendor: { id: "v-k1", title: "title of v-k1" },
      team: { id: "t1", title: "Sales" },
    });
    expect(contracts.calls[0]?.options.include).toBeUndefined();
  });
});

describe("one request", () => {
  /** Lists customers with their subscriptions this many times, the last time in a transaction. */
  async function callsOf(cache: boolean): Promise<readonly (readonly string[])[]> {
    const billing = answering();
    const twice = createPlugin({
      id: "test/twice",
      endpoints: {
        twice: endpoint("/twice", {
          rules: ["everyone"],
          async handler({ scope }) {
            const input = { kind: "list", entity: "customer", query: { include: { subscription: {} } } } as const;
            const first = (await scope.run(input)).records;
            const second = await scope.transaction(async (inner) => (await inner.run(input)).records);
            joined(first[0], "subscription").title = "changed by the handler";
            return second;
          },
        }),
      },
    });
    const app = open(shop(billing, { plugins: [twice], remoteJoins: { cache } }));
    expect(titles(await rowsOf(app, "/twice"))).toEqual(["title of s1", "title of s2", "title of s3"]);
    return billing.calls.map(({ ids }) => ids);
  }

  it("requests each record once, also within transactions, and gets its own copies", async () => {
    expect(await callsOf(true)).toEqual([["s1", "s2", "s3"]]);
  });

  it("requests a record every time when the cache is off", async () => {
    expect(await callsOf(false)).toEqual([
      ["s1", "s2", "s3"],
      ["s1", "s2", "s3"],
    ]);
  });

  it("requests a record once for two relations", async () => {
    const billing = answering();
    const deal = entity("deal", {
      from: belongsTo(() => subscription).remote("billing"),
      to: belongsTo(() => subscription).remote("billing"),
    }).rules({ read: ["everyone"] });
    const driver = memoryDriver({
      deal: [
        { id: "d1", fromId: "s1", toId: "s2" },
        { id: "d2", fromId: "s2", toId: "s3" },
      ],
    });
    const app = open(createTestApp({ entities: [deal], services: { billing: () => billing }, driver }));
    const [, second] = await rowsOf(app, "/api/deals?include=from,to");
    expect([joined(second, "from").id, joined(second, "to").id]).toEqual(["s2", "s3"]);
    expect(billing.calls.flatMap(({ ids }) => ids).sort()).toEqual(["s1", "s2", "s3"]);
  });

  it("joins local and remote relations together", async () => {
    const team = entity("team", { title: string, subscription: belongsTo(() => subscription).remote("billing") })
      .timestamps(false)
      .rules({ read: ["everyone"] });
    const member = entity("member", { team: belongsTo(() => team), plan: belongsTo(() => plan).remote("billing") })
      .timestamps(false)
      .rules({ read: ["everyone"] });
    const driver = memoryDriver({
      team: [{ id: "t1", title: "Sales", subscriptionId: "s1" }],
      member: [{ id: "m1", teamId: "t1", planId: "p1" }],
    });
    const app = open(createTestApp({ entities: [team, member], services: { billing: () => answering() }, driver }));
    const [row] = await rowsOf(app, "/api/members?include=team.subscription,plan");
    expect(row).toMatchObject({ plan: { id: "p1" }, team: { title: "Sales", subscription: { id: "s1" } } });
  });
});

describe("a custom action", () => {
  it("returns joined records masked, in any form", async () => {
    const withPeek = entity("customer", { name: string, subscription: belongsTo(() => subscription).remote("billing") })
      .timestamps(false)
      .rules({ read: ["everyone"] })
      .actions({
        peek: action()
          .method("GET")
          .path("/peek")
          .rules("everyone")
          .handler(async ({ scope }) => {
            const { records } = await scope.run({
              kind: "list",
              entity: "customer",
              query: { include: { subscription: {} } },
            });
            return { first: { ...records[0] }, all: records };
          }),
      });
    const app = open(
      createTestApp({
        entities: [withPeek],
        services: { billing: () => answering({ secret: "canary", pin: "canary", margin: "canary" }) },
        driver: memoryDriver({ customer: customers(1) }),
      }),
    );
    const { status, body } = await app.as(null).request("GET", "/api/customers/peek");
    expect(status).toBe(200);
    expect(JSON.stringify(body)).toContain("title of s1");
    expect(JSON.stringify(body)).not.toContain("canary");
  });
});

it("creates no routes for entities of other services", async () => {
  const app = open(shop(answering()));
  expect((await app.as(null).request("GET", "/api/subscriptions")).status).toBe(404);
});
