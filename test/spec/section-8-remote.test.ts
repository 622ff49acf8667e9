import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { httpService, type RemoteService } from "../../src/index.ts";
import type { RemoteJoinsOptions } from "../../src/plugins/remote-joins/index.ts";
import { request } from "../support/http.ts";
import { type BillingProcess, startBilling } from "../support/remote/billing-process.ts";
import { customersWithSubscriptions, startShop } from "../support/remote/shop.ts";

// Section 8 of the specification: the limits of remote joins, between two processes over HTTP.

let billing: BillingProcess;
beforeAll(async () => {
  billing = await startBilling();
});
afterAll(() => billing.kill());
beforeEach(() => billing.setMood("answers"));

interface Setting {
  readonly count?: number;
  readonly remoteJoins?: RemoteJoinsOptions;
  readonly service?: RemoteService;
}

/** An app whose customers have one subscription each, and a caller who requests all of them. */
async function openShop({ count = 3, remoteJoins = {}, service }: Setting) {
  const customers = customersWithSubscriptions(count).map((one) => ({ ...one, formerId: "s0" }));
  const billed = () => service ?? httpService({ baseUrl: billing.baseUrl });
  const { url, close } = await startShop({ services: { billing: billed }, customers, remoteJoins });
  onTestFinished(close);
  return (include = "subscription") => request(url, "GET", `/api/customers?include=${include}&_limit=1000`);
}

const joined = (json: { subscriptionId: string; subscription: { id: string } | null }[]) =>
  json.filter(({ subscriptionId, subscription }) => subscription?.id === subscriptionId).length;
const sizes = async () => (await billing.asked()).map(({ length }) => length).sort((a, b) => b - a);

describe("8: remote join batch size", () => {
  it("is 100 ids by default: 250 are requested as 100, 100 and 50, each once", async () => {
    const ask = await openShop({ count: 250 });
    expect(joined((await ask()).json)).toBe(250);
    const asked = await billing.asked();
    expect(asked.map(({ length }) => length).sort((a, b) => b - a)).toEqual([100, 100, 50]);
    expect(new Set(asked.flat()).size).toBe(250);
  });

  it("can be configured", async () => {
    const ask = await openShop({ count: 25, remoteJoins: { batchSize: 10 } });
    expect(joined((await ask()).json)).toBe(25);
    expect(await sizes()).toEqual([10, 10, 5]);
  });
});

describe("8: remote fetch timeout", () => {
  /** Milliseconds until the connection to a service that never responds is aborted. */
  async function patience(remoteJoins?: RemoteJoinsOptions) {
    await billing.setMood("hangs");
    const { fetchByIds } = httpService({ baseUrl: billing.baseUrl });
    const waited: number[] = [];
    const service: RemoteService = {
      fetchByIds(name, ids, options) {
        const begin = performance.now();
        options?.signal?.addEventListener("abort", () => waited.push(performance.now() - begin));
        return fetchByIds(name, ids, options);
      },
    };
    const ask = await openShop({ service, ...(remoteJoins && { remoteJoins }) });
    const { status, headers, json } = await ask();
    expect([status, headers.get("x-remote-errors"), joined(json)]).toEqual([200, "subscription;timeout", 0]);
    expect(waited).toHaveLength(1);
    return waited[0] as number;
  }

  it("is 5000 ms by default", async () => {
    // The wait began before the measurement, and a busy machine may be late: this only excludes other time limits.
    expect(await patience()).toBeGreaterThan(4_000);
  });

  it("can be configured", async () => {
    const waited = await patience({ timeout: 500 });
    expect(waited).toBeGreaterThan(100);
    expect(waited).toBeLessThan(4_000);
  });
});

describe("8: remote result caching", () => {
  it("is on by default: a request fetches a record once, for any number of relations", async () => {
    const ask = await openShop({ count: 3 });
    const { json } = await ask("subscription,former");
    expect(joined(json)).toBe(3);
    expect(json.map(({ former }: { former: { id: string } }) => former.id)).toEqual(["s0", "s0", "s0"]);
    expect((await billing.asked()).flat().sort()).toEqual(["s0", "s1", "s2"]);
  });

  it("is on by default across requests for a shared service, and otherwise off", async () => {
    const shared = httpService({ baseUrl: billing.baseUrl, shared: true });
    for (const [service, calls] of [
      [shared, [3]],
      [httpService({ baseUrl: billing.baseUrl }), [3, 3]],
    ] as const) {
      const ask = await openShop({ service });
      for (let i = 0; i < 2; i++) expect(joined((await ask()).json)).toBe(3);
      expect(await sizes()).toEqual(calls);
    }
  });

  it("can be turned off", async () => {
    const service = httpService({ baseUrl: billing.baseUrl, shared: true });
    const ask = await openShop({ service, remoteJoins: { cache: false } });
    for (let i = 0; i < 2; i++) expect(joined((await ask()).json)).toBe(3);
    expect(await sizes()).toEqual([3, 3]);
  });
});
