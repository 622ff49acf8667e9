import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createModel } from "../../../src/entity/index.ts";
import {
  action,
  createEntityStep,
  entity,
  executeWorkflow,
  memoryDriver,
  noopLogger,
  runWorkflow,
  string,
  type WorkflowDefinition,
  workflow,
} from "../../../src/index.ts";
import { recordingLogger } from "../../../src/testing/index.ts";
import { deferred } from "../../support/deferred.ts";
import { SHARED_DATABASES, type SharedDatabase } from "../../support/workflows/order-databases.ts";
import { type WorkflowAppParts, workflowApp } from "../../support/workflows/workflow-app.ts";

const HOUR = 3_600_000;
const note = entity("note", { text: string }).rules({ read: ["everyone"], create: ["authenticated"] });
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

it("a single-transaction workflow ends before the database's time limit", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  cleanups.push(() => vi.useRealTimers());
  const driver = memoryDriver();
  await driver.connect({ model: createModel([note]), log: noopLogger, production: false });
  const taken: string[] = [];
  const long = workflow("long")
    .transactional()
    .step(
      "letter",
      () => 1,
      () => void taken.push("letter"),
    )
    .step("a", ({ driver: own }) => passed(20_000).then(() => void own), undefined, { transactional: true })
    .step("b", () => passed(20_000), undefined, { transactional: true })
    .build();
  const { status, failedStep, error } = await executeWorkflow(long, { driver });
  expect([status, failedStep, error?.name, taken]).toEqual(["compensated", "b", "StepTimeoutError", ["letter"]]);
});

/** Advances the clock without waiting. */
async function passed(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
}

describe.each(SHARED_DATABASES)("a run with a journal on %s", (_, open) => {
  let database: SharedDatabase;
  beforeEach(async () => {
    database = await open();
    cleanups.push(database.drop);
  });

  async function started(known: readonly WorkflowDefinition[], parts: Partial<WorkflowAppParts> = {}) {
    const app = await workflowApp({ driver: database.driver(), entities: [note], workflows: known, ...parts });
    cleanups.push(app.close);
    return app;
  }
  const stored = async () => (await database.query('SELECT "status", "fence", "leaseUntil" FROM "workflowRun"'))[0];

  it("stays with the process that works on it when its clock is changed", async () => {
    let offset = 0;
    let begun = 0;
    const release = deferred<void>();
    const here = deferred<void>();
    const slow = workflow("slow")
      .step("slow", async () => {
        begun += 1;
        here.resolve();
        await release.promise;
      })
      .build();
    const clock = { now: () => new Date(Date.now() + offset) };
    const { api } = await started([slow], { clock, journal: { recoveryMs: 10 } });
    const run = runWorkflow(slow, { resolve: api.resolve, asSystem: true });
    await here.promise;
    const before = await stored();
    offset = HOUR;
    // The lease is renewed at once, and no process takes the run over.
    await expect.poll(async () => (await stored())?.leaseUntil).not.toEqual(before?.leaseUntil);
    release.resolve();
    expect(await run).toMatchObject({ status: "completed" });
    expect([begun, await stored()]).toMatchObject([1, { status: "completed", fence: 0 }]);
  });

  it("continues when a hook does not return", async () => {
    const logger = recordingLogger();
    const never = () => new Promise(() => {});
    const silent = workflow("silent")
      .withHooks({ onStart: never, onStepComplete: never, onComplete: never })
      .step("one", () => 1)
      .build();
    const { api } = await started([silent], { logger, limits: { hookMs: 20 } });
    const result = await runWorkflow(silent, { resolve: api.resolve, asSystem: true });
    expect(result).toMatchObject({ status: "completed", results: { one: 1 } });
    expect(logger.lines.filter((line) => line.includes("A hook of a workflow failed"))).toHaveLength(3);
  });

  it("does not block the app's close while it waits for a hook, and logs nothing else", async () => {
    const logger = recordingLogger();
    const waiting = deferred<void>();
    const hangs = workflow("hangs")
      .withHooks({
        onStepComplete() {
          waiting.resolve();
          return new Promise(() => {});
        },
      })
      .step("one", () => 1)
      .build();
    const { api, close } = await started([hangs], {
      logger,
      limits: { requestMs: 50, hookMs: 300 },
      journal: { recoveryMs: 5 },
    });
    const run = runWorkflow(hangs, { resolve: api.resolve, asSystem: true }).catch(() => {});
    await waiting.promise;
    await close();
    await run;
    expect(logger.lines.filter((line) => line.includes("Looking for workflows failed"))).toEqual([]);
  });

  it("is refused within a transaction, however it would be started", async () => {
    const inner = workflow("inner")
      .addStep(createEntityStep("note", { text: "inner" }))
      .build();
    const outer = entity("outer", { text: string })
      .rules({ read: ["everyone"] })
      .actions({
        direct: action()
          .rules("authenticated")
          .handler(({ transaction }) => transaction(async (within) => (await runWorkflow(inner, within)).status)),
        byClient: action()
          .rules("authenticated")
          .handler(({ transaction }) =>
            transaction(({ client }) => (client("outer") as unknown as { run(): Promise<unknown> }).run()),
          ),
        run: action()
          .rules("authenticated")
          .workflow([createEntityStep("note", { text: "run" })]),
      });
    const logger = recordingLogger();
    const app = await workflowApp({
      driver: database.driver(),
      entities: [note, outer],
      workflows: [inner],
      logger,
    });
    cleanups.push(app.close);
    for (const path of ["direct", "byClient"]) {
      const { status } = await app.as({ id: "ann" }).request("POST", `/api/outers/${path}`, {});
      expect(status).toBe(500);
    }
    const said = logger.lines.filter((line) => line.includes("cannot be run within a transaction"));
    expect(said).toHaveLength(2);
    expect(await database.query("SELECT * FROM note")).toEqual([]);
    expect(await stored()).toBeUndefined();
  });

  it("has a valid record id as its id", async () => {
    const one = workflow("one")
      .step("one", () => 1)
      .build();
    const { api } = await started([one]);
    for (const runId of ["", "x".repeat(10_000), "a\u0000b", "\ud800"])
      await expect(runWorkflow(one, { resolve: api.resolve, asSystem: true, runId })).rejects.toMatchObject({
        status: 400,
      });
    expect(await stored()).toBeUndefined();
  });

  it("is another run with another input, and the same run with the same input", async () => {
    let ran = 0;
    const one = workflow("one")
      .step("one", () => ++ran)
      .build();
    const { api, close } = await started([one]);
    const run = (input: unknown) => runWorkflow(one, { resolve: api.resolve, asSystem: true, runId: "r", input });
    const [first, again] = await Promise.all([
      run({ amount: 1, at: new Date(0) }),
      run({ amount: 1, at: new Date(0) }),
    ]);
    expect([first.results, again.results]).toEqual([{ one: 1 }, { one: 1 }]);
    expect((await run({ amount: 1, at: new Date(0) })).results).toEqual({ one: 1 });
    await expect(run({ amount: 1000, at: new Date(0) })).rejects.toMatchObject({ status: 409 });
    await close();
    const later = await started([one]);
    const options = { resolve: later.api.resolve, asSystem: true, runId: "r" };
    expect((await runWorkflow(one, { ...options, input: { amount: 1, at: new Date(0) } })).results).toEqual({ one: 1 });
    await expect(runWorkflow(one, { ...options, input: { amount: 2 } })).rejects.toMatchObject({ status: 409 });
    expect(ran).toBe(1);
  });
});

it("a run in memory with another input is another run too", async () => {
  const release = deferred<void>();
  const one = workflow("one")
    .step("one", () => release.promise)
    .build();
  const { api, close } = await workflowApp({
    driver: memoryDriver(),
    entities: [note],
    workflows: [one],
    journal: false,
  });
  cleanups.push(close);
  const run = (input: unknown) => runWorkflow(one, { resolve: api.resolve, asSystem: true, runId: "r", input });
  const first = run({ amount: 1 });
  await expect(run({ amount: 2 })).rejects.toMatchObject({ status: 409 });
  release.resolve();
  expect((await first).status).toBe("completed");
});
