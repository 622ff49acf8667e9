import { afterEach, describe, expect, it } from "vitest";
import { createPlugin, endpoint, type RemoteService, type Row } from "../../../src/index.ts";
import type { TestApp } from "../../../src/testing/index.ts";
import { answering, type Call, keepingLog, serviceOf, shop, titled } from "./shop.ts";

const never = new Promise<never>(() => {});
const ADMIN = { id: "a", role: "admin" };
const PATH = "/api/customers?include=subscription";

const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const app of closing.splice(0)) await app.close();
});

function open(billing: RemoteService, config: Parameters<typeof shop>[1] = {}): ReturnType<typeof shop> {
  const app = shop(billing, config);
  closing.push(app);
  return app;
}

async function titlesFor(app: Pick<TestApp<never>, "as">, user: typeof ADMIN | null = null): Promise<unknown[]> {
  const { status, body } = await app.as(user).request("GET", PATH);
  expect(status).toBe(200);
  return (body as Row[]).map(({ subscription }) => (subscription as Row | null)?.title ?? null);
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const ALL = ["title of s1", "title of s2", "title of s3"];

describe("a service that is not shared", () => {
  it("is called by each request, on behalf of its caller", async () => {
    const billing = serviceOf(({ ids, options }) =>
      ids.map((id) => ({ id, title: `for ${options.caller?.user?.id ?? "nobody"}` })),
    );
    const app = open(billing);
    const as = async (id: string) =>
      (await app.as({ id }).request("GET", "/api/customers/c1?include=subscription")).body;
    expect([await as("ann"), await as("bob")]).toMatchObject([
      { subscription: { title: "for ann" } },
      { subscription: { title: "for bob" } },
    ]);
    expect(billing.calls).toHaveLength(2);
  });
});

describe("a shared service", () => {
  it("is called once for all requests, without the caller's identity", async () => {
    const billing = answering({}, true);
    const app = open(billing);
    for (let i = 0; i < 3; i++) expect(await titlesFor(app)).toEqual(ALL);
    expect(billing.calls).toHaveLength(1);
    expect(billing.calls[0]?.options.caller).toBeUndefined();
  });

  it("is called by every request when the cache is off", async () => {
    const billing = answering({}, true);
    const app = open(billing, { remoteJoins: { cache: false } });
    expect([await titlesFor(app), await titlesFor(app)]).toEqual([ALL, ALL]);
    expect(billing.calls).toHaveLength(2);
    expect(billing.calls[0]?.options.caller).toBeUndefined();
  });

  it("is called once by parallel requests, in batches", async () => {
    const billing = serviceOf(async ({ ids }) => {
      await later(20);
      return titled(ids);
    }, true);
    const app = open(billing, { count: 5, remoteJoins: { batchSize: 2 } });
    const all = await Promise.all([titlesFor(app), titlesFor(app), titlesFor(app)]);
    expect(all.every((titles) => !titles.includes(null))).toBe(true);
    expect(billing.calls.map(({ ids }) => ids.length)).toEqual([2, 2, 1]);
  });

  it("gives callers with different rights what each may see", async () => {
    const billing = answering({ margin: "canary", secret: "canary-2" }, true);
    const app = open(billing);
    const one = async (user: typeof ADMIN | null) => (await app.as(user).request("GET", PATH)).body as Row[];
    for (let i = 0; i < 2; i++) {
      expect((await one(ADMIN))[0]?.subscription).toMatchObject({ margin: "canary" });
      expect(JSON.stringify(await one(null))).not.toContain("canary");
      expect(JSON.stringify(await one(ADMIN))).not.toContain("canary-2");
    }
    expect(billing.calls).toHaveLength(2); // one call for each set of fields
  });

  it("caches that a record does not exist", async () => {
    const billing = serviceOf(() => [], true);
    const app = open(billing);
    expect([await titlesFor(app), await titlesFor(app)]).toEqual([
      [null, null, null],
      [null, null, null],
    ]);
    expect(billing.calls).toHaveLength(1);
  });

  it("is called again when cached records have expired", async () => {
    const billing = answering({}, { ttl: 30 });
    const app = open(billing);
    await titlesFor(app);
    await later(50);
    expect(await titlesFor(app)).toEqual(ALL);
    expect(billing.calls).toHaveLength(2);
  });

  it("keeps no more records than `max`", async () => {
    const billing = answering({}, { max: 2 });
    const app = open(billing, { count: 3 });
    await titlesFor(app);
    await titlesFor(app);
    expect(billing.calls).toHaveLength(2);
  });

  it("never caches a failure", async () => {
    let answer: (call: Call) => unknown = () => Promise.reject(new Error("down"));
    const billing = serviceOf((call) => answer(call), true);
    const app = open(billing);
    expect(await titlesFor(app)).toEqual([null, null, null]);
    answer = () => "x";
    expect(await titlesFor(app)).toEqual([null, null, null]);
    answer = ({ ids }) => titled(ids);
    expect(await titlesFor(app)).toEqual(ALL);
  });

  it("is replaced by expired records while it fails, for `staleIfError`", async () => {
    let isDown = false;
    const answer = ({ ids }: Call): unknown => (isDown ? Promise.reject(new Error("down")) : titled(ids));
    const app = open(serviceOf(answer, { ttl: 20, staleIfError: 60_000 }));
    const strict = open(serviceOf(answer, { ttl: 20 }));
    expect([await titlesFor(app), await titlesFor(strict)]).toEqual([ALL, ALL]);
    isDown = true;
    await later(40);
    const { body, headers } = await app.as(null).request("GET", PATH);
    expect((body as Row[])[0]?.subscription).toMatchObject({ title: "title of s1" });
    expect(headers.get("x-remote-errors")).toBeNull();
    expect(await titlesFor(strict)).toEqual([null, null, null]);
  });

  it("is replaced by expired records for waiting callers too, without a second call", async () => {
    let isDown = false;
    const billing = serviceOf(({ ids }) => (isDown ? never : titled(ids)), { ttl: 20, staleIfError: 60_000 });
    const twice = createPlugin({
      id: "test/twice",
      endpoints: {
        twice: endpoint("/twice", {
          rules: ["everyone"],
          async handler({ scope }) {
            const input = { kind: "list", entity: "customer", query: { include: { subscription: {} } } } as const;
            await scope.run(input);
            return (await scope.run(input)).records;
          },
        }),
      },
    });
    const app = open(billing, { plugins: [twice], remoteJoins: { timeout: 100 } });
    await titlesFor(app);
    isDown = true;
    await later(40);
    const { body, headers } = await app.as(null).request("GET", "/twice");
    expect((body as Row[]).map((row) => (row.subscription as Row | null)?.title)).toEqual(ALL);
    expect(headers.get("x-remote-errors")).toBeNull();
    expect(billing.calls).toHaveLength(2);
  });

  it("still serves the others when the first caller disconnects", async () => {
    let release: (() => void) | undefined;
    const billing = serviceOf(({ ids }) => new Promise((resolve) => (release = () => resolve(titled(ids)))), true);
    const app = open(billing);
    const gone = new AbortController();
    const first = app.api.handle({ method: "GET", url: PATH, headers: {}, signal: gone.signal });
    await expect.poll(() => release).toBeDefined();
    const second = titlesFor(app);
    gone.abort();
    expect((await first).status).toBe(200);
    release?.();
    expect(await second).toEqual(ALL);
    expect(billing.calls).toHaveLength(1);
  });

  it("that never responds costs each request one deadline, until the breaker opens", async () => {
    const billing = serviceOf(() => never, true);
    const app = open(billing, { remoteJoins: { timeout: 50, breaker: { failures: 1 } } });
    const headerOf = async () => (await app.as(null).request("GET", PATH)).headers.get("x-remote-errors");
    expect(await headerOf()).toBe("subscription;timeout");
    // Requests that join a call shortly before its deadline get its result.
    await expect.poll(headerOf).toBe("subscription;unavailable");
    expect(billing.calls).toHaveLength(1);
  });

  it("with invalid options is an error in the log", async () => {
    const { lines, logger } = keepingLog();
    const app = open(answering({}, { ttl: 0 }), { logger });
    expect(await titlesFor(app)).toEqual([null, null, null]);
    expect(JSON.stringify(lines)).toContain("`shared` takes whole numbers");
  });

  it("gives every caller their own copies", async () => {
    const billing = answering({ extra: { list: [1] }, endsAt: "2026-01-01T00:00:00.000Z" }, true);
    const app = open(billing);
    const one = async () => (await app.api.asSystem().customer.get("c1", { include: ["subscription"] })).subscription;
    const first = await one();
    first?.endsAt?.setTime(0);
    const { list } = (first?.extra ?? {}) as { list: number[] };
    list.push(2);
    expect(await one()).toMatchObject({ extra: { list: [1] }, endsAt: new Date("2026-01-01") });
  });
});
