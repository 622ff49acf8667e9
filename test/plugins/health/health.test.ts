import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { memoryDriver } from "../../../src/drivers/memory/index.ts";
import { withMiddleware } from "../../../src/gate/index.ts";
import { DatabaseUnavailableError } from "../../../src/kernel/index.ts";
import { type HealthOptions, health } from "../../../src/plugins/health/index.ts";
import { createFakeKernel, type FakeKernel } from "../../../src/testing/fake-kernel.ts";

let kernel: FakeKernel;
afterEach(() => kernel.close());

/** A kernel over a database whose `ping` is the test's; tells how often it was asked. */
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
  it("adds two endpoints that are open to everybody", async () => {
    await start(async () => {});
    expect(kernel.seen.routes).toEqual(["GET /health/live", "GET /health/ready"]);
    expect(kernel.seen.requires).toEqual(["rules"]);
  });

  it("answers /health/live without asking the database", async () => {
    const { asked } = await start(() => Promise.reject(new DatabaseUnavailableError()));
    expect(await kernel.call("GET", "/health/live")).toMatchObject({ status: 200, body: { status: "ok" } });
    expect(asked()).toBe(0);
  });

  it("answers /health/ready with 200 while the database answers", async () => {
    await start(async () => {});
    expect(await ready()).toMatchObject({ status: 200, body: { status: "ok" } });
  });

  it("answers /health/ready with 503 and Retry-After while it does not, without its words", async () => {
    await start(() => Promise.reject(new TypeError("password for db.internal is wrong")));
    const answer = await ready();
    expect(answer).toMatchObject({ status: 503, body: { code: "DATABASE_UNAVAILABLE" } });
    expect(answer.headers["retry-after"]).toBe("2");
    expect(JSON.stringify(answer)).not.toContain("db.internal");
  });

  it("asks the database once for a crowd of probes", async () => {
    let release = (): void => {};
    const { asked } = await start(() => new Promise((resolve) => (release = resolve)));
    const answers = Array.from({ length: 50 }, ready);
    await setImmediate(); // all of them are asking now
    release();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect((await ready()).status).toBe(200);
    expect(asked()).toBe(1);
  });

  it("trusts a bad answer for a while too", async () => {
    const { asked } = await start(() => Promise.reject(new DatabaseUnavailableError()));
    expect([(await ready()).status, (await ready()).status]).toEqual([503, 503]);
    expect(asked()).toBe(1);
  });

  it("asks again when the answer has become old", async () => {
    let up = false;
    const { asked } = await start(() => (up ? Promise.resolve() : Promise.reject(new DatabaseUnavailableError())), {
      cacheMs: 0,
    });
    expect((await ready()).status).toBe(503);
    up = true;
    expect((await ready()).status).toBe(200);
    expect(asked()).toBe(2);
  });

  it("answers 503 when the database takes too long, and asks again later", async () => {
    const { asked } = await start(() => new Promise(() => {}), { timeoutMs: 10, cacheMs: 0 });
    expect((await ready()).status).toBe(503);
    expect((await ready()).status).toBe(503);
    expect(asked()).toBe(2);
  });
});
