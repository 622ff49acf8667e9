import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createEntityStep,
  entity,
  runWorkflow,
  type StepContext,
  step,
  string,
  type WorkflowDefinition,
  workflow,
} from "../../../src/index.ts";
import { recordingLogger } from "../../../src/testing/index.ts";
import { deferred } from "../../support/deferred.ts";
import { SHARED_DATABASES, type SharedDatabase } from "../../support/workflows/order-databases.ts";
import { type WorkflowAppParts, workflowApp } from "../../support/workflows/workflow-app.ts";

const HOUR = 3_600_000;
const user = entity("user", { name: string, password: string.password() }).rules({ read: ["everyone"] });
const note = entity("note", { text: string }).rules({ read: ["everyone"], create: ["authenticated"] });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe.each(SHARED_DATABASES)("a run that its process left behind, on %s", (_, open) => {
  let database: SharedDatabase;
  let ended: ReturnType<typeof deferred<unknown>>;
  beforeEach(async () => {
    database = await open();
    cleanups.push(database.drop);
    ended = deferred();
  });

  async function started(known: readonly WorkflowDefinition[], parts: Partial<WorkflowAppParts> = {}) {
    const limits = { requestMs: 200, hookMs: 200 };
    const app = await workflowApp({
      driver: database.driver(),
      entities: [user, note],
      workflows: known,
      limits,
      journal: { recoveryMs: 20 },
      ...parts,
    });
    cleanups.push(app.close);
    return app;
  }

  /** An app that treats all leases of other processes as expired. */
  const heir = (known: readonly WorkflowDefinition[], parts: Partial<WorkflowAppParts> = {}) =>
    started(known, { clock: { now: () => new Date(Date.now() + HOUR) }, ...parts });

  /** Three steps; in the first process the second one never ends. Returns what the second process did. */
  function threeSteps(said: unknown[], hangs?: () => void): WorkflowDefinition {
    const second = async (context: StepContext): Promise<string> => {
      if (hangs === undefined) said.push("second");
      else {
        hangs();
        await new Promise((resolve) => context.signal.addEventListener("abort", resolve));
      }
      return "second";
    };
    return workflow("three")
      .step(
        "first",
        ({ set }) => {
          set("left", new Map([[1, 2]]).size);
          return { at: new Date(7), big: 2n ** 70n, text: "one" };
        },
        (context, result) => void said.push("first back", context.input, result, context.data, context.executionKey),
      )
      .step("second", second, (_, result) => void said.push("second back", result))
      .step("third", ({ results, user: of }) => void said.push("third", results, of))
      .withHooks({ onComplete: (result) => ended.resolve(result), onFailed: (result) => ended.resolve(result) })
      .build();
  }

  /** Starts a run that its process then loses. */
  async function begun(input: unknown, runId = "run"): Promise<void> {
    const hanging = deferred<void>();
    const three = threeSteps([], hanging.resolve);
    const { api } = await started([three]);
    const run = runWorkflow(three, { resolve: api.resolve, user: { id: "ann", roles: ["a"] }, input, runId });
    run.catch(() => {});
    await hanging.promise;
  }

  const first = { at: new Date(7), big: 2n ** 70n, text: "one" };

  it("is compensated if a step's result is unknown, with input, data and results", async () => {
    await begun({ item: "x" });
    const said: unknown[] = [];
    await heir([threeSteps(said)]);
    expect(await ended.promise).toMatchObject({
      status: "compensated",
      failedStep: "second",
      compensatedSteps: ["second", "first"],
      results: { first },
      metadata: { id: "run", name: "three" },
    });
    expect(said).toEqual([
      ...["second back", undefined],
      ...["first back", { item: "x" }, first, { left: 1 }, "run:0:execute"],
    ]);
  });

  it("continues with its caller's rights if its step may be repeated", async () => {
    await begun({ item: "x" });
    const said: unknown[] = [];
    const three = threeSteps(said);
    const steps = three.steps.map((one) => (one.name === "second" ? { ...one, idempotent: true } : one));
    await heir([{ ...three, steps }]);
    expect(await ended.promise).toMatchObject({ status: "completed", data: { left: 1 } });
    expect(said).toEqual(["second", "third", { first, second: "second" }, { id: "ann", roles: ["a"] }]);
  });

  it("is compensated if a step would need a password, which is not stored", async () => {
    await begun({ name: "ann", password: "correct horse" });
    const said: unknown[] = [];
    const three = threeSteps(said);
    await heir([{ ...three, steps: three.steps.map((one) => ({ ...one, idempotent: true })) }]);
    expect(await ended.promise).toMatchObject({ status: "compensated", failedStep: "second" });
    expect(said).toContainEqual({ name: "ann", password: undefined });
    expect(said).not.toContain("third");
  });

  it("needs attention when its steps have changed, and none of them runs", async () => {
    await begun({}, "changed");
    const said: unknown[] = [];
    const logger = recordingLogger();
    const three = threeSteps(said);
    const renamed = three.steps.map((one) => (one.name === "third" ? step("last", () => void said.push("last")) : one));
    await heir([{ ...three, steps: renamed }], { logger });
    await expect
      .poll(async () => (await database.query('SELECT status FROM "workflowRun"'))[0]?.status)
      .toBe("needs_attention");
    expect(said).toEqual([]);
    expect(logger.lines.join("\n")).toContain("its workflow has changed since it began");
  });

  it("needs attention after too many recoveries, in case it kills its process", async () => {
    await begun({});
    const said: unknown[] = [];
    await database.query('UPDATE "workflowRun" SET fence = 2');
    await heir([threeSteps(said)], { journal: { recoveryMs: 20, maxRecoveries: 2 } });
    await expect
      .poll(async () => (await database.query('SELECT status FROM "workflowRun"'))[0]?.status)
      .toBe("needs_attention");
    expect(said).toEqual([]);
  });

  it("blocks no other run when it cannot be read", async () => {
    await begun({}, "broken");
    await database.query(`UPDATE "workflowRun" SET input = 'no JSON'`);
    await begun({}, "good");
    await heir([threeSteps([])]);
    expect(await ended.promise).toMatchObject({ metadata: { id: "good" }, status: "compensated" });
  });

  it("is one of a thousand: recovery respects its limit, and the API responds", async () => {
    const release = deferred<void>();
    const full = deferred<void>();
    let active = 0;
    let most = 0;
    const seen = new Set<string>();
    const slow = (waits: boolean): WorkflowDefinition =>
      workflow("slow")
        .step("wait", async ({ runId }) => {
          if (!waits) return;
          active += 1;
          most = Math.max(most, active);
          seen.add(runId);
          if (active === 3) full.resolve();
          await release.promise;
          active -= 1;
          if (seen.size === 12) ended.resolve(undefined);
        })
        .build();
    const own = slow(false);
    const before = await started([own]);
    await runWorkflow(own, { resolve: before.api.resolve, asSystem: true, runId: "model" });
    const { driver } = before.api;
    const model = (await driver.findOne("workflowRun", { id: "model" })) as Record<string, unknown>;
    const pending = { ...model, status: "pending", leaseUntil: new Date(0), owner: null };
    const rows = Array.from({ length: 1_000 }, (_, i) => ({ ...pending, id: `run-${i}` }));
    await driver.createMany("workflowRun", rows);
    await before.close();
    const app = await heir([slow(true)], { journal: { recoveryMs: 20, concurrency: 3 } });
    await full.promise;
    expect((await app.as({ id: "ann" }).request("POST", "/api/notes", { text: "meanwhile" })).status).toBe(201);
    expect((await app.as(null).request("GET", "/api/notes")).body).toMatchObject([{ text: "meanwhile" }]);
    release.resolve();
    await ended.promise;
    expect(most).toBe(3);
  });
});

describe.each(SHARED_DATABASES)("closing an app on %s", (_, open) => {
  it("waits for a running run", async () => {
    const database = await open();
    cleanups.push(database.drop);
    const inside = deferred<void>();
    const release = deferred<void>();
    const two = workflow("two")
      .step("wait", async () => {
        inside.resolve();
        await release.promise;
      })
      .addStep(createEntityStep("note", { text: "after" }))
      .build();
    const app = await workflowApp({ driver: database.driver(), entities: [note], workflows: [two] });
    const run = runWorkflow(two, { resolve: app.api.resolve, asSystem: true });
    await inside.promise;
    const closing = app.close();
    release.resolve();
    await closing;
    expect(await run).toMatchObject({ status: "completed" });
    expect(await database.query("SELECT text FROM note")).toEqual([{ text: "after" }]);
  });

  it("leaves a longer run to the next process, with no step half done", async () => {
    const database = await open();
    cleanups.push(database.drop);
    const inside = deferred<void>();
    const aborted = deferred<void>();
    const steps = (isHeir: boolean) =>
      workflow("two")
        .addStep(createEntityStep("note", { text: "before" }))
        .step(
          "wait",
          async ({ signal }) => {
            if (isHeir) return;
            signal.addEventListener("abort", () => aborted.resolve());
            inside.resolve();
            await new Promise(() => {});
          },
          undefined,
          { idempotent: true },
        )
        .withHooks({ onComplete: () => ended.resolve() })
        .build();
    const ended = deferred<void>();
    const limits = { requestMs: 50, hookMs: 2_000 };
    const two = steps(false);
    const app = await workflowApp({ driver: database.driver(), entities: [note], workflows: [two], limits });
    const run = runWorkflow(two, { resolve: app.api.resolve, asSystem: true });
    const failure = expect(run).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await inside.promise;
    await app.close();
    await aborted.promise;
    await failure;
    expect(await database.query('SELECT status FROM "workflowRun"')).toEqual([{ status: "running" }]);
    const clock = { now: () => new Date(Date.now() + HOUR) };
    const heir = await workflowApp({
      driver: database.driver(),
      entities: [note],
      workflows: [steps(true)],
      clock,
    });
    cleanups.push(heir.close);
    await ended.promise;
    expect(await database.query("SELECT text FROM note")).toEqual([{ text: "before" }]);
  });

  it("does not fail a step because of closed services: its run continues later", async () => {
    const database = await open();
    cleanups.push(database.drop);
    const inside = deferred<void>();
    const release = deferred<void>();
    const calls: (() => Promise<unknown>)[] = [];
    const taken: string[] = [];
    const two = workflow("two")
      .step(
        "first",
        () => "first",
        () => void taken.push("first"),
      )
      .step("ask", async () => {
        inside.resolve();
        await release.promise;
        await calls[0]?.();
      })
      .build();
    const app = await workflowApp({ driver: database.driver(), entities: [note], workflows: [two] });
    calls.push(() => app.api.asSystem().note?.list() as Promise<unknown>);
    const run = runWorkflow(two, { resolve: app.api.resolve, asSystem: true });
    const failure = expect(run).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await inside.promise;
    const closing = app.close();
    // The app refuses calls before its plugins are stopped.
    await expect
      .poll(() =>
        calls[0]?.().then(
          () => "answered",
          () => "refused",
        ),
      )
      .toBe("refused");
    release.resolve();
    await closing;
    await failure;
    expect(taken).toEqual([]);
    expect(await database.query('SELECT status FROM "workflowRun"')).toEqual([{ status: "running" }]);
  });
});
