import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { withMiddleware } from "../../../src/gate/index.ts";
import { DatabaseUnavailableError } from "../../../src/kernel/index.ts";
import { type HealthOptions, health } from "../../../src/plugins/health/index.ts";
import { createFakeKernel, type FakeKernel } from "../../../src/testing/fake-kernel.ts";

let kernel: FakeKernel;
afterEach(() => kernel.close());

/** A kernel over a database whose `ping` a test controls and counts. */
async function start(ping: () => Promise<void>, options?: HealthOptions): Promise<{ asked: () => number }> {
  let count = 0;
  const driver = withMiddleware(memoryDriver(), (statement, next) => next(statement), {
    ping() {
      count++;
      return ping();
    },
  });
  kernel = createFakeKernel().withDriver(driver);
  await kernel.use(health(options));
  return { asked: () => count };
}

const ready = () => kernel.call("GET", "/health/ready");

describe("health", () => {
  it("adds two public endpoints", async () => {
    await start(async () => {});
    expect(kernel.seen.routes).toEqual(["GET /health/live", "GET /health/ready"]);
    expect(kernel.seen.requires).toEqual(["rules"]);
  });

  it("responds to /health/live without querying the database", async () => {
    const { asked } = await start(() => Promise.reject(new DatabaseUnavailableError()));
    expect(await kernel.call("GET", "/health/live")).toMatchObject({ status: 200, body: { status: "ok" } });
    expect(asked()).toBe(0);
  });

  it("responds to /health/ready with 200 while the database is available", async () => {
    await start(async () => {});
    expect(await ready()).toMatchObject({ status: 200, body: { status: "ok" } });
  });

  it("responds to /health/ready with 503 and Retry-After otherwise, without details", async () => {
    await start(() => Promise.reject(new TypeError("password for db.internal is wrong")));
    const answer = await ready();
    expect(answer).toMatchObject({ status: 503, body: { code: "DATABASE_UNAVAILABLE" } });
    expect(answer.headers["retry-after"]).toBe("2");
    expect(JSON.stringify(answer)).not.toContain("db.internal");
  });

  it("pings the database once for many simultaneous probes", async () => {
    let release = (): void => {};
    const { asked } = await start(() => new Promise((resolve) => (release = resolve)));
    const answers = Array.from({ length: 50 }, ready);
    await setImmediate(); // all of them are waiting now
    release();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect((await ready()).status).toBe(200);
    expect(asked()).toBe(1);
  });

  it("caches a failure for a while too", async () => {
    const { asked } = await start(() => Promise.reject(new DatabaseUnavailableError()));
    expect([(await ready()).status, (await ready()).status]).toEqual([503, 503]);
    expect(asked()).toBe(1);
  });

  it("pings again when the cached result has expired", async () => {
    let up = false;
    const { asked } = await start(() => (up ? Promise.resolve() : Promise.reject(new DatabaseUnavailableError())), {
      cacheMs: 0,
    });
    expect((await ready()).status).toBe(503);
    up = true;
    expect((await ready()).status).toBe(200);
    expect(asked()).toBe(2);
  });

  it("responds with 503 when the database takes too long, and pings again later", async () => {
    const { asked } = await start(() => new Promise(() => {}), { timeoutMs: 10, cacheMs: 0 });
    expect((await ready()).status).toBe(503);
    expect((await ready()).status).toBe(503);
    expect(asked()).toBe(2);
  });
});
