import { createPlugin, DatabaseUnavailableError, memoryDriver } from "keelson";
import { entityOf, type Statement, withMiddleware } from "keelson/plugin";
import { afterEach, describe, expect, it } from "vitest";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";
import { deferred } from "../../support/deferred.ts";
import { orderApp } from "./order-app.ts";

/** Statements on keys that currently fail. */
const failing = new Set<"update one" | "update several" | "delete" | "find several">();
let app: Awaited<ReturnType<typeof orderApp>> | undefined;
afterEach(async () => {
  failing.clear();
  await app?.close();
});

function nameOf(statement: Statement): string {
  if (statement.kind === "update") return statement.returning === true ? "update one" : "update several";
  return statement.kind === "find" && statement.limit !== 1 ? "find several" : statement.kind;
}

/** A database that is unavailable for some statements on keys only. */
const away = createPlugin({
  id: "away",
  wrapDriver(driver) {
    return withMiddleware(driver, (statement, next) => {
      if (entityOf(statement).name === "idempotencyKey" && failing.has(nameOf(statement) as "delete"))
        return Promise.reject(new DatabaseUnavailableError());
      return next(statement);
    });
  },
});

describe("when the key's database is unavailable", () => {
  it("rolls back work whose response it cannot store, and the next attempt runs", async () => {
    app = await orderApp({ driver: memoryDriver(), plugins: [away] });
    failing.add("update one");
    expect((await app.create("k")).status).toBe(503);
    expect(await app.orders()).toEqual([]);
    failing.clear();
    expect((await app.create("k")).status).toBe(201);
    expect(await app.orders()).toHaveLength(1);
  });

  it("sends the response of finished work, and logs that it was not stored", async () => {
    const logger = recordingLogger();
    app = await orderApp({
      driver: memoryDriver(),
      plugins: [away],
      logger,
      keys: { withoutTransaction: ["order.apart"] },
    });
    failing.add("update one");
    expect((await app.send("POST", "/api/orders/apart", "k")).json).toEqual({ apart: false });
    expect(logger.lines.join("\n")).toContain("An answer could not be kept for its idempotency key");
    expect((await app.send("POST", "/api/orders/apart", "k")).json.code).toBe("IDEMPOTENCY_KEY_IN_USE");
  });

  it("responds to a refused request as usual, and frees the key after its lease", async () => {
    const logger = recordingLogger();
    let now = Date.now();
    app = await orderApp({ driver: memoryDriver(), plugins: [away], logger, clock: { now: () => new Date(now) } });
    failing.add("delete");
    expect((await app.create("k", { item: "r" })).status).toBe(400);
    expect(logger.lines.join("\n")).toContain("An idempotency key could not be given back");
    failing.clear();
    expect((await app.create("k", { item: "r" })).json.code).toBe("IDEMPOTENCY_KEY_IN_USE");
    now += 11_000;
    expect((await app.create("k", { item: "r" })).status).toBe(400);
    expect((await app.create("k")).status).toBe(201);
  });

  it("handles expired keys when the database is available again", async () => {
    const logger = recordingLogger();
    app = await orderApp({ driver: memoryDriver(), plugins: [away], logger, keys: { ttlMs: 100 } });
    failing.add("find several");
    await expect
      .poll(() => logger.lines.join("\n"), { timeout: 5_000 })
      .toContain("Expired idempotency keys could not be deleted");
    await app.create("k");
    failing.clear();
    await expect.poll(async () => (await app?.keys())?.length, { timeout: 5_000 }).toBe(0);
  });
});

describe("a request that takes longer than its lease", () => {
  it("keeps its key until it ends, even if a renewal fails", async () => {
    const logger = recordingLogger();
    const released = deferred<void>();
    app = await orderApp({
      driver: memoryDriver(),
      plugins: [away],
      logger,
      keys: { leaseMs: 2_400, withoutTransaction: ["order.apart"] },
      work: () => released.promise,
    });
    const { send, keys } = app;
    const apart = () => send("POST", "/api/orders/apart", "long");
    const first = apart();
    const leaseUntil = async () => ((await keys())[0]?.leaseUntil as Date | undefined)?.getTime() ?? 0;
    await expect.poll(leaseUntil).toBeGreaterThan(0);
    const begun = await leaseUntil();
    await expect.poll(leaseUntil, { timeout: 5_000 }).toBeGreaterThan(begun);
    expect((await apart()).json.code).toBe("IDEMPOTENCY_KEY_IN_USE");
    failing.add("update several");
    await expect
      .poll(() => logger.lines.join("\n"), { timeout: 5_000 })
      .toContain("An idempotency key could not be renewed");
    failing.clear();
    released.resolve();
    expect((await first).json).toEqual({ apart: false });
    expect((await apart()).headers.get("idempotency-replayed")).toBe("true");
  });
});
