import { afterEach, describe, expect, it } from "vitest";
import { entity, noopLogger, postgres, runWorkflow, string, workflow, workflows } from "../../../src/index.ts";
import { createTestApp } from "../../../src/testing/index.ts";
import { deferred } from "../../support/deferred.ts";
import { amount } from "../../support/suite.ts";
import { gateTo } from "../../support/tcp-gate.ts";
import { openPostgres, SHARED_DATABASES, type SharedDatabase } from "../../support/workflows/order-databases.ts";
import { type ChildOptions, type OrderProcess, startOrderProcess } from "../../support/workflows/order-process.ts";
import { orderTraces, wrongWith } from "../../support/workflows/order-traces.ts";

const HOUR = 3_600_000;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function opened(open: () => Promise<SharedDatabase>): Promise<SharedDatabase> {
  const database = await open();
  cleanups.push(database.drop);
  return database;
}

async function started({ address }: SharedDatabase, options: Partial<ChildOptions> = {}): Promise<OrderProcess> {
  const base = { database: address, engine: "journal", push: "off", aheadMs: 0, recoveryMs: 50 } as const;
  const child = await startOrderProcess({ ...base, ...options });
  cleanups.push(child.kill);
  return child;
}

/** Everything that workflows have stored. */
async function contentOf({ query }: SharedDatabase): Promise<unknown> {
  const tables = ['"workflowRun"', '"workflowStep"', "item", "counter", "marker", "call", "effect"];
  const rows: unknown[] = [];
  for (const table of tables) rows.push(await query(`SELECT * FROM ${table} ORDER BY id`));
  return rows;
}

describe.each(SHARED_DATABASES)("several processes on %s", (_, open) => {
  it("recover the same runs, and each run is executed by one of them", async () => {
    const database = await opened(open);
    const dying = await started(database, { push: "auto" });
    const runs = Array.from({ length: amount(5, 24) }, (_, i) => ({
      runId: `run-${i}`,
      at: "execute create: between",
    }));
    await dying.stopAt(runs);
    await dying.kill();
    const heirs = await Promise.all([1, 2].map(() => started(database, { aheadMs: HOUR })));
    await Promise.all(heirs.map((heir) => heir.settled()));
    const traces = [...(await orderTraces(database)).values()];
    expect(traces.map(({ status }) => status)).toEqual(runs.map(() => "completed"));
    expect(traces.flatMap(wrongWith)).toEqual([]);
    expect(traces.map(({ processes }) => processes)).toEqual(runs.map(() => 1));
  });

  it("fence off a process that was paused past its lease: it writes nothing", async () => {
    const database = await opened(open);
    const paused = await started(database, { push: "auto" });
    // Between an effect and its journal entry, and before an entry that says that a step begins.
    const runs = [
      { runId: "after", at: "execute charge: after-effect" },
      { runId: "before", at: "execute charge: before-start" },
      { runId: "back", at: "compensate charge: after-effect", fail: "ship" },
    ];
    await paused.stopAt(runs);
    paused.process.kill("SIGSTOP");
    // By its clock, the lease has expired.
    const heir = await started(database, { aheadMs: HOUR });
    await heir.settled();
    const left = await contentOf(database);
    for (const { runId } of runs) paused.send({ goOn: runId });
    paused.process.kill("SIGCONT");
    for (const { runId } of runs)
      expect(await paused.told(({ ended }) => ended === runId)).toMatchObject({ status: "given up" });
    expect(await contentOf(database)).toEqual(left);
    const traces = await orderTraces(database);
    expect(Object.fromEntries([...traces].map(([id, { status }]) => [id, status]))).toEqual({
      after: "compensated",
      before: "completed",
      back: "compensated",
    });
    expect([...traces.values()].flatMap(wrongWith)).toEqual([]);
  });
});

describe("a process that has lost a run", () => {
  it("rolls back an entity step that another process has executed meanwhile", async () => {
    const database = await opened(openPostgres);
    const paused = await started(database, { push: "auto" });
    await paused.stopAt([{ runId: "one", at: "execute create: after-effect" }]);
    paused.process.kill("SIGSTOP");
    const heir = await started(database, { aheadMs: HOUR });
    await heir.settled();
    const left = await contentOf(database);
    paused.send({ goOn: "one" });
    paused.process.kill("SIGCONT");
    expect(await paused.told(({ ended }) => ended === "one")).toMatchObject({ status: "given up" });
    expect(await contentOf(database)).toEqual(left);
    const [one] = [...(await orderTraces(database)).values()];
    expect(one).toMatchObject({ status: "completed", items: 1 });
  });

  it("aborts its step's signal when the lease cannot be renewed, and starts no more", async () => {
    const database = await opened(openPostgres);
    const gate = await gateTo(database.address);
    await gate.open();
    const begun = deferred<void>();
    const aborted = deferred<void>();
    const ran: string[] = [];
    const slow = workflow("slow")
      .step("wait", async ({ signal }) => {
        ran.push("wait");
        signal.addEventListener("abort", () => aborted.resolve());
        begun.resolve();
        await aborted.promise;
      })
      .step(
        "next",
        () => void ran.push("next"),
        () => void ran.push("not next"),
      )
      .build();
    const app = createTestApp({
      entities: [entity("note", { text: string })],
      driver: postgres(gate.url),
      logger: noopLogger,
      limits: { requestMs: 100, hookMs: 100 },
      plugins: (defaults) =>
        defaults.replace("workflows", workflows({ workflows: [slow], journal: { leaseMs: 1_000, recoveryMs: HOUR } })),
    });
    cleanups.push(() => app.close());
    cleanups.push(gate.close);
    await app.api.ready;
    const ended = runWorkflow(slow, { resolve: app.api.resolve, asSystem: true });
    const failure = expect(ended).rejects.toMatchObject({ code: "UNAVAILABLE", status: 503 });
    await begun.promise;
    await gate.close();
    await aborted.promise;
    await failure;
    expect(ran).toEqual(["wait"]);
    expect(await database.query('SELECT status FROM "workflowRun"')).toEqual([{ status: "running" }]);
    await gate.open();
  });
});
