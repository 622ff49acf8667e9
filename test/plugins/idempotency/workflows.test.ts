import { embedded, memoryDriver } from "keelson";
import { afterEach, describe, expect, it } from "vitest";
import { freshSqliteFile } from "../../support/databases.ts";
import { deferred } from "../../support/deferred.ts";
import { orderApp, sameAnswer } from "./order-app.ts";

let app: Awaited<ReturnType<typeof orderApp>> | undefined;
afterEach(() => app?.close());

const ship = (key: string, headers: Readonly<Record<string, string>> = {}) =>
  (app as NonNullable<typeof app>).send("POST", "/api/orders/ship", key, { body: { item: "anchor" }, headers });

describe.each([
  ["in memory", {}],
  ["with a journal", { journal: true }],
])("a workflow %s", (_, workflows) => {
  it("runs once for one key, and its run has its own identity", async () => {
    const runs: (string | undefined)[] = [];
    app = await orderApp({ driver: memoryDriver(), workflows, work: (runId) => void runs.push(runId) });
    const first = await ship("once");
    expect(first.status).toBe(200);
    expect(sameAnswer(await ship("once"))).toEqual(sameAnswer(first));
    expect((await ship("twice")).json.shipped).not.toBe(first.json.shipped);
    expect(runs).toHaveLength(2);
    expect(runs[0]).toBe(first.json.shipped);
    expect(runs[0]).not.toContain("once");
    expect(await app.orders()).toHaveLength(2);
  });

  it("responds with 409 while it runs, and then with the first response", async () => {
    const reached = deferred<void>();
    const released = deferred<void>();
    app = await orderApp({
      driver: memoryDriver(),
      workflows,
      async work() {
        reached.resolve();
        await released.promise;
      },
    });
    const first = ship("slow");
    await reached.promise;
    expect((await ship("slow")).json.code).toBe("IDEMPOTENCY_KEY_IN_USE");
    released.resolve();
    expect(sameAnswer(await ship("slow"))).toMatchObject({ status: expect.toSatisfy((s) => s === 200 || s === 409) });
    expect(sameAnswer(await ship("slow"))).toEqual(sameAnswer(await first));
    expect(await app.orders()).toHaveLength(1);
  });
});

describe("a workflow that failed", () => {
  it("has failed for its key if runs are stored, and does not run again with it", async () => {
    let tries = 0;
    app = await orderApp({
      driver: memoryDriver(),
      workflows: { journal: true },
      work() {
        tries += 1;
        throw new TypeError("of the harbour");
      },
    });
    const first = await ship("fails");
    expect(first.json.code).toBe("WORKFLOW_FAILED");
    const second = await ship("fails");
    expect([second.status, second.json.runId]).toEqual([500, first.json.runId]);
    expect(tries).toBe(1);
  });
});

describe("a workflow whose process has lost its key", () => {
  it("is found by the next attempt, and does not run again", async () => {
    const { file, remove } = await freshSqliteFile();
    const runs: (string | undefined)[] = [];
    const released = deferred<void>();
    let now = Date.now();
    app = await orderApp({
      driver: embedded({ file }),
      workflows: { journal: true },
      clock: { now: () => new Date(now) },
      keys: { leaseMs: 600_000 },
      async work(runId) {
        runs.push(runId);
        await released.promise;
      },
    });
    const first = ship("lost");
    await expect.poll(() => runs.length).toBe(1);
    now += 700_000; // the lease of the key has expired, as after a crash
    const second = ship("lost");
    await expect
      .poll(async () => (await app?.keys())?.[0]?.leaseUntil, { timeout: 3_000 })
      .toSatisfy((until) => (until as Date).getTime() > now);
    released.resolve();
    expect((await second).json).toEqual((await first).json);
    expect(runs).toHaveLength(1);
    expect(await app.orders()).toHaveLength(1);
    await app.close();
    app = undefined;
    await remove();
  });

  it("responds to an asynchronous request again with the same run", async () => {
    app = await orderApp({ driver: memoryDriver(), workflows: { journal: true } });
    const first = await ship("later", { prefer: "respond-async" });
    expect(first.status).toBe(202);
    const second = await ship("later", { prefer: "respond-async" });
    expect(sameAnswer(second)).toEqual(sameAnswer(first));
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
  });
});
