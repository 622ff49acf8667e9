import { createPlugin, DatabaseUnavailableError, type Driver, memoryDriver } from "keelson";
import { entityName } from "keelson/kernel";
import { afterEach, describe, expect, it } from "vitest";
import { recordingLogger } from "../../../src/testing/recording-logger.ts";
import { deferred } from "../../support/deferred.ts";
import { orderApp } from "./order-app.ts";

type Statement = "update" | "updateMany" | "deleteMany" | "findMany";

/** Statements on keys that fail for now. */
const failing = new Set<Statement>();
let app: Awaited<ReturnType<typeof orderApp>> | undefined;
afterEach(async () => {
  failing.clear();
  await app?.close();
});

/** A database that is away for some statements on keys, and no others. */
const away = createPlugin({
  id: "away",
  wrapDriver(driver) {
    const wrap = (inner: Driver): Driver => {
      const refusing =
        <A extends readonly unknown[], R>(name: Statement, run: (...given: A) => Promise<R>) =>
        async (...given: A): Promise<R> => {
          if (failing.has(name) && entityName(given[0] as string) === "idempotencyKey")
            throw new DatabaseUnavailableError();
          return run(...given);
        };
      return {
        ...inner,
        findMany: refusing("findMany", inner.findMany),
        update: refusing("update", inner.update),
        updateMany: refusing("updateMany", inner.updateMany),
        deleteMany: refusing("deleteMany", inner.deleteMany),
        transaction: (work, options) => inner.transaction((driver) => work(wrap(driver)), options),
      };
    };
    return wrap(driver);
  },
});

describe("when the database is away for the key", () => {
  it("rolls back work whose answer it cannot keep, and the next try is carried out", async () => {
    app = await orderApp({ driver: memoryDriver(), plugins: [away] });
    failing.add("update");
    expect((await app.create("k")).status).toBe(503);
    expect(await app.orders()).toEqual([]);
    failing.clear();
    expect((await app.create("k")).status).toBe(201);
    expect(await app.orders()).toHaveLength(1);
  });

  it("gives the answer to work that is done, and says in the log that it is not kept", async () => {
    const logger = recordingLogger();
    app = await orderApp({
      driver: memoryDriver(),
      plugins: [away],
      logger,
      keys: { withoutTransaction: ["order.apart"] },
    });
    failing.add("update");
    expect((await app.send("POST", "/api/orders/apart", "k")).json).toEqual({ apart: false });
    expect(logger.lines.join("\n")).toContain("An answer could not be kept for its idempotency key");
    expect((await app.send("POST", "/api/orders/apart", "k")).json.code).toBe("IDEMPOTENCY_KEY_IN_USE");
  });

  it("answers a refusal as ever, and the key is free when its lease has ended", async () => {
    const logger = recordingLogger();
    let now = Date.now();
    app = await orderApp({ driver: memoryDriver(), plugins: [away], logger, clock: { now: () => new Date(now) } });
    failing.add("deleteMany");
    expect((await app.create("k", { item: "r" })).status).toBe(400);
    expect(logger.lines.join("\n")).toContain("An idempotency key could not be given back");
    failing.clear();
    expect((await app.create("k", { item: "r" })).json.code).toBe("IDEMPOTENCY_KEY_IN_USE");
    now += 11_000;
    expect((await app.create("k", { item: "r" })).status).toBe(400);
    expect((await app.create("k")).status).toBe(201);
  });

  it("goes on with expired keys when it is back", async () => {
    const logger = recordingLogger();
    app = await orderApp({ driver: memoryDriver(), plugins: [away], logger, keys: { ttlMs: 100 } });
    failing.add("findMany");
    await expect
      .poll(() => logger.lines.join("\n"), { timeout: 5_000 })
      .toContain("Expired idempotency keys could not be deleted");
    await app.create("k");
    failing.clear();
    await expect.poll(async () => (await app?.keys())?.length, { timeout: 5_000 }).toBe(0);
  });
});

describe("a request that takes longer than its lease", () => {
  it("keeps its key as long as it goes on, also when a renewal fails", async () => {
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
    failing.add("updateMany");
    await expect
      .poll(() => logger.lines.join("\n"), { timeout: 5_000 })
      .toContain("An idempotency key could not be renewed");
    failing.clear();
    released.resolve();
    expect((await first).json).toEqual({ apart: false });
    expect((await apart()).headers.get("idempotency-replayed")).toBe("true");
  });
});
