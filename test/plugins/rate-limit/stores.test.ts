import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  memoryRateStore,
  type RateCount,
  type RateLimitStore,
  redisRateStore,
} from "../../../src/plugins/rate-limit/index.ts";
import { letThrough, serveLimited } from "./limit-app.ts";

const rate = { limit: 10, window: 60 };
const policies = [{ name: "all", limit: 2, window: 60 }] as const;

describe("the store in memory", () => {
  it("remembers a limited number of keys, the most recently used ones", () => {
    const store = memoryRateStore({ maxKeys: 1_000 });
    const hit = (key: string) => (store.hit(key, rate) as RateCount).count;
    const countsOf = (from: number, to: number) =>
      new Set(Array.from({ length: to - from }, (_, i) => hit(`key ${from + i}`)));
    expect(countsOf(0, 100_000)).toEqual(new Set([1]));
    expect(countsOf(99_000, 100_000)).toEqual(new Set([2]));
    expect(countsOf(0, 1_000)).toEqual(new Set([1]));
  });

  it("starts a window with a key's first request, synchronously, and again at its end", async () => {
    const store = memoryRateStore();
    const hit = () => store.hit("key", { limit: 1, window: 1 }) as RateCount;
    const first = hit();
    expect([first.count, hit().count]).toEqual([1, 2]);
    expect(first.resetMs).toBeLessThanOrEqual(1_000);
    await new Promise((resolve) => setTimeout(resolve, first.resetMs + 10));
    expect(hit().count).toBe(1);
  });

  it("never has more left of a window than its length, at any time", () => {
    const store = memoryRateStore();
    const clock = vi.spyOn(performance, "now");
    onTestFinished(() => clock.mockRestore());
    for (let now = 1_000; now < 3_000; now += 0.137) {
      clock.mockReturnValue(now);
      const { resetMs } = store.hit(`k${now}`, { limit: 1, window: 1 }) as RateCount;
      if (resetMs > 1_000) expect.fail(`${resetMs} ms at ${now}`);
    }
  });

  it.each([0, 1.5, 10_000_001, Number.NaN])("refuses %s as a number of keys", (maxKeys) => {
    expect(() => memoryRateStore({ maxKeys })).toThrow("`maxKeys` must be a whole number from 1 to 10000000");
  });
});

describe("an unavailable store", () => {
  /** Works, fails, or never responds, as set by the test. */
  function moody(): { readonly store: RateLimitStore; mood: "well" | "failing" | "silent"; asked: number } {
    const counts = memoryRateStore();
    const told: ReturnType<typeof moody> = {
      mood: "well",
      asked: 0,
      store: {
        name: "moody",
        async hit(key, given) {
          told.asked++;
          if (told.mood === "silent") await new Promise(() => {});
          if (told.mood === "failing") throw new TypeError("secret-host:6379 refused");
          return counts.hit(key, given);
        },
      },
    };
    return told;
  }

  it.each(["failing", "silent"] as const)("is replaced by this process, with the same limits: %s", async (mood) => {
    const told = moody();
    const { status, lines } = await serveLimited(
      { policies, store: told.store, storeTimeoutMs: 50, trustedProxies: 1 },
      { production: true },
    );
    told.mood = mood;
    expect(await status("/report")).toBe(200);
    expect(await letThrough(Array.from({ length: 20 }, () => status("/report")))).toBe(1);
    const said = lines.filter((line) => line.includes("The store of rate limits"));
    expect(said.length).toBeGreaterThan(0);
    expect(said.join()).not.toContain("secret-host");
    told.mood = "well";
    // The store has not counted meanwhile; requests that this process allowed still count.
    const before = told.asked;
    expect(await status("/report")).toBe(429);
    let next = 0;
    await expect
      .poll(async () => [await status("/report", `192.0.2.${next++}`), told.asked > before], { timeout: 5_000 })
      .toEqual([200, true]);
  });

  it("is not called by every request", async () => {
    const told = moody();
    const { status } = await serveLimited({ policies, store: told.store });
    told.mood = "failing";
    await status("/report");
    const before = told.asked;
    const from = Date.now();
    for (let i = 0; i < 20; i++) await status("/report");
    expect(told.asked - before).toBeLessThanOrEqual(Math.ceil((Date.now() - from) / 1_000));
  });

  it("is not called again for an exhausted key until its window ends", async () => {
    const told = moody();
    const { status } = await serveLimited({ policies, store: told.store, trustedProxies: 1 });
    expect(await letThrough(Array.from({ length: 50 }, () => status("/report", "192.0.2.1")))).toBe(2);
    const before = told.asked;
    expect(before).toBeLessThanOrEqual(3);
    expect(await status("/report", "192.0.2.1")).toBe(429);
    expect(told.asked).toBe(before);
    expect([await status("/report", "192.0.2.2"), told.asked]).toEqual([200, before + 1]);
  });

  it("makes requests fail with 503 if configured, but never a probe", async () => {
    const told = moody();
    const { get, status } = await serveLimited({ policies, store: told.store, onStoreFailure: "refuse" });
    told.mood = "failing";
    const refused = await get("/openapi.json");
    expect(refused.status).toBe(503);
    expect(refused.json).toMatchObject({ code: "UNAVAILABLE", message: "Requests cannot be counted at the moment" });
    expect(refused.headers.get("retry-after")).toBe("2");
    expect(await status("/health/ready")).toBe(200);
  });

  it("may throw synchronously", async () => {
    const store: RateLimitStore = {
      name: "thrower",
      hit() {
        throw new TypeError("no");
      },
    };
    const { status } = await serveLimited({ policies, store });
    expect(await letThrough(Array.from({ length: 5 }, () => status("/report")))).toBe(2);
  });
});

describe("the store in Redis", () => {
  it.each([undefined, null, {}, "redis://127.0.0.1"])("refuses %j, which is not a client", (client) => {
    expect(() => redisRateStore(client as unknown as object)).toThrow("takes a client of redis or ioredis");
  });
});
