import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  action,
  ConflictError,
  defineRule,
  entity,
  keelson,
  memoryDriver,
  noopLogger,
  step,
  string,
  workflows,
} from "../../../src/index.ts";
import { idempotency } from "../../../src/plugins/idempotency/index.ts";
import type { WorkflowsOptions } from "../../../src/plugins/workflows/index.ts";
import { deferred } from "../../support/deferred.ts";

const HOUR = 3_600_000;
const insider = defineRule("runsInsider", ({ user }) => user?.role === "insider");
const secret = entity("secret", { name: string }).rules({ read: [insider] });

let driver: ReturnType<typeof memoryDriver>;
let role: string;
let released: ReturnType<typeof deferred<void>>;
const apps: { close(): Promise<unknown> }[] = [];
beforeEach(() => {
  driver = memoryDriver({ secret: [{ id: "s", name: "alpha" }] });
  role = "insider";
  released = deferred<void>();
});
afterEach(async () => {
  released.resolve();
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

/** A process whose second step waits for `until`; its clock is ahead by `aheadMs()`. */
async function started(runs: WorkflowsOptions, aheadMs: () => number, until?: Promise<void>) {
  const note = entity("note", { text: string })
    .rules({ read: ["authenticated"] })
    .actions({
      ask: action()
        .rules("authenticated")
        .workflow([
          step("read", async ({ scope }) => {
            const { records = [] } = (await scope?.run({ kind: "read", entity: "secret", id: "s" })) ?? {};
            return { text: `It is ${records[0]?.name}` };
          }),
          step(
            "tell",
            async ({ results }) => {
              await until;
              return results.read;
            },
            undefined,
            { idempotent: true },
          ),
        ]),
      fail: action()
        .rules("authenticated")
        .workflow([
          step("begin", async () => ({ begun: true })),
          step(
            "refuse",
            async ({ scope }) => {
              await until;
              const { records = [] } = (await scope?.run({ kind: "read", entity: "secret", id: "s" })) ?? {};
              await scope?.run({ kind: "list", entity: "secret", query: { limit: 1_000 } });
              throw new ConflictError(`It is ${records[0]?.name}`);
            },
            undefined,
            { idempotent: true },
          ),
        ]),
    });
  const api = keelson({
    entities: [secret, note],
    driver,
    logger: noopLogger,
    clock: { now: () => new Date(Date.now() + aheadMs()) },
    plugins: (defaults) => defaults.replace("workflows", workflows(runs)).with(idempotency()),
    getUser: () => ({ id: "ann", role }),
  });
  apps.push(api);
  await api.ready;
  return async (name = "ask"): Promise<readonly [number, string | undefined]> => {
    const headers = { "content-type": "application/json", "idempotency-key": "k" };
    const init = { method: "POST", headers, body: "{}" };
    const response = await api.fetch(new Request(`http://test.invalid/api/notes/${name}`, init));
    const { text, message } = (await response.json()) as { readonly text?: string; readonly message?: string };
    return [response.status, text ?? message];
  };
}

const told = [200, "It is alpha"] as const;
/** The first step is done, and the second has begun. */
const isBegun = () => expect.poll(async () => (await driver.findMany("workflowStep", {})).length).toBe(2);

describe("the response to a request that attached to a run", () => {
  it.each([
    ["in memory", {}],
    ["with a journal", { journal: true }],
  ])("is not repeated once the right to what its steps read is lost: %s", async (_, runs) => {
    let aheadMs = 0;
    const send = await started(runs, () => aheadMs, released.promise);
    const first = send();
    await expect.poll(() => driver.count("idempotencyKey")).toBe(1);
    aheadMs = HOUR; // the lease of the key has expired
    const second = send();
    await expect
      .poll(async () => (await driver.findMany("idempotencyKey", {}))[0]?.leaseUntil)
      .toSatisfy((until) => (until as Date).getTime() > Date.now() + HOUR);
    released.resolve();
    expect(await Promise.all([first, second])).toEqual([told, told]);
    expect(await send()).toEqual(told);
    role = "outsider";
    expect((await send())[0]).toBe(403);
  });

  it("is not repeated once the right is lost to what a dead process read", async () => {
    const dying = await started({ journal: { recoveryMs: 50 } }, () => 0, released.promise);
    void dying();
    await isBegun();
    const send = await started({ journal: { recoveryMs: 50 } }, () => HOUR);
    expect([await send(), await send()]).toEqual([told, told]);
    role = "outsider";
    expect((await send())[0]).toBe(403);
  });

  it("is refused if the right to what a dead process read is lost already", async () => {
    const dying = await started({ journal: { recoveryMs: 50 } }, () => 0, released.promise);
    void dying();
    await isBegun();
    role = "outsider";
    const send = await started({ journal: { recoveryMs: 50 } }, () => HOUR);
    expect((await send())[0]).toBe(403);
  });

  it("is refused if the error of an ended run tells what the caller may not read now", async () => {
    const dying = await started({ journal: { recoveryMs: 50 } }, () => 0, released.promise);
    void dying("fail");
    await isBegun();
    const send = await started({ journal: { recoveryMs: 50 } }, () => HOUR);
    await expect
      .poll(async () => (await driver.findMany("workflowRun", {})).map(({ status }) => status))
      .toEqual(["compensated"]);
    role = "outsider";
    expect((await send("fail"))[0]).toBe(403);
    role = "insider";
    expect(await send("fail")).toEqual([409, "It is alpha"]);
  });

  it("is refused if a failed run has read more records than are noted with its error", async () => {
    const at = new Date();
    const rows = Array.from({ length: 900 }, (_, place) => ({
      ...{ id: `${"x".repeat(100)}${place}`, name: "beta" },
      ...{ createdAt: at, updatedAt: at },
    }));
    const dying = await started({ journal: { recoveryMs: 50 } }, () => 0, released.promise);
    await driver.createMany("secret", rows);
    void dying("fail");
    await isBegun();
    const send = await started({ journal: { recoveryMs: 50 } }, () => HOUR);
    const runs = () => driver.findMany("workflowRun", {});
    await expect.poll(async () => (await runs()).map(({ status }) => status)).toEqual(["compensated"]);
    expect(String((await runs())[0]?.error).length).toBeLessThan(1_000);
    expect((await send("fail"))[0]).toBe(403);
  });
});
