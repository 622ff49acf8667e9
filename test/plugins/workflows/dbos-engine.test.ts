import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { pathToFileURL } from "node:url";
import { DBOS } from "@dbos-inc/dbos-sdk";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runWorkflow, step, type WorkflowResult, workflow } from "../../../src/index.ts";
import { loadDbos } from "../../../src/plugins/workflows/dbos/dbos-process.ts";
import { dbosEngine } from "../../../src/plugins/workflows/dbos/index.ts";
import { recordingLogger } from "../../../src/testing/index.ts";
import { childProgram } from "../../support/child-program.ts";
import { freshPostgres } from "../../support/databases.ts";
import { deferred } from "../../support/deferred.ts";
import { gateTo } from "../../support/tcp-gate.ts";
import { openPostgres } from "../../support/workflows/order-databases.ts";
import { startOrderProcess } from "../../support/workflows/order-process.ts";
import { type OrderTraces, orderTraces, wrongWith } from "../../support/workflows/order-traces.ts";
import { openApp, type PlaceInput, placeAll } from "./dbos-app.ts";

const CARD = "4111-canary-1111";
const ann = { id: "ann" };

let gate = deferred<void>();
/** Resolves when the step that waits for the gate has begun. */
let begun = deferred<void>();
const retried = workflow<{ readonly fails: number }>("retried")
  .step(
    "count",
    ({ attempt, input }) => {
      if (attempt <= input.fails) throw new TypeError("again");
      return attempt;
    },
    undefined,
    { retry: { attempts: 3, delay: 1 } },
  )
  .build();
const gated = workflow("gated")
  .step("wait", async () => {
    begun.resolve();
    await gate.promise;
    return "open";
  })
  .build();
const unkept = workflow("unkept")
  .addStep(step("open", () => ({ close() {} })))
  .build();

const logger = recordingLogger();
let database: Awaited<ReturnType<typeof freshPostgres>>;
let app: ReturnType<typeof openApp>;
let sql: pg.Client;

const more = [retried, gated, unkept];
const open = (): ReturnType<typeof openApp> => openApp(database.url, { logger, more });

beforeAll(async () => {
  database = await freshPostgres();
  app = open();
  await app.api.ready;
  sql = new pg.Client({ connectionString: database.url });
  await sql.connect();
  await app.api.asSystem().stock.create({ id: "s", name: "chairs", left: 1_000 });
});
afterAll(async () => {
  await sql.end();
  await app.close();
  await database.drop();
});

async function run(input: PlaceInput, runId?: string): Promise<WorkflowResult> {
  return runWorkflow(placeAll as never, { resolve: app.api.resolve, user: ann, input, runId });
}

/** A run's calls to the external service, in order. */
async function calls(runId: string): Promise<readonly string[]> {
  const { data } = await app.api.asSystem().call.list({ where: { run: runId }, sort: ["createdAt"] });
  return data.map(({ what }) => what);
}

async function left(): Promise<number> {
  return (await app.api.asSystem().stock.get("s")).left;
}

async function orders(item: string): Promise<number> {
  return (await app.api.asSystem().order.list({ where: { item } })).data.length;
}

function statusInDbos(runId: string): Promise<string | undefined> {
  return sql
    .query("SELECT status FROM dbos.workflow_status WHERE workflow_uuid = $1", [runId])
    .then(({ rows }) => rows[0]?.status);
}

describe("a workflow on DBOS", () => {
  it("runs its steps in order, and stores their results and data", async () => {
    const before = await left();
    const ended = await run({ item: "chair" });
    expect(ended).toMatchObject({ success: true, status: "completed", data: { charge: true, pack: true } });
    expect(ended.results.ship).toMatchObject({ charged: true });
    expect(await calls(ended.metadata.id)).toEqual(["charge", "pack"]);
    expect(await left()).toBe(before - 1);
    await expect.poll(() => statusInDbos(ended.metadata.id)).toBe("SUCCESS");
  });

  it("compensates steps in reverse order, each with its result, when one fails", async () => {
    const before = await left();
    const ended = await run({ item: "taken back", fail: "untyped" });
    expect(ended).toMatchObject({
      success: false,
      status: "compensated",
      failedStep: "ship",
      compensatedSteps: ["pack", "update-stock", "charge", "create-order"],
    });
    expect(ended.error).toBeInstanceOf(TypeError);
    expect(await calls(ended.metadata.id)).toEqual(["charge", "pack", "undo pack true", "undo charge true"]);
    expect([await left(), await orders("taken back")]).toEqual([before, 0]);
  });

  it("applies a step's timeout and retries", async () => {
    const late = await run({ item: "late", fail: "late" });
    expect(late.error?.message).toContain("took longer than 500 ms");
    const resolve = app.api.resolve;
    const ended = await runWorkflow(retried as never, { resolve, user: ann, input: { fails: 2 } });
    expect(ended.results).toEqual({ count: 3 });
    const failed = await runWorkflow(retried as never, { resolve, user: ann, input: { fails: 3 } });
    expect(failed).toMatchObject({ success: false, failedStep: "count" });
  });

  it("fails a step whose result cannot be serialised", async () => {
    const ended = await runWorkflow(unkept, { resolve: app.api.resolve, user: ann });
    expect(ended).toMatchObject({ success: false, failedStep: "open", status: "compensated" });
  });

  it("keeps the status of a typed error, and only the code of others", async () => {
    const typed = await app.as(ann).request("POST", "/api/orders/place", { item: "typed", fail: "typed" });
    expect([typed.status, typed.body]).toMatchObject([404, { message: "There is no such address" }]);
    const untyped = await app.as(ann).request("POST", "/api/orders/place", { item: "untyped", fail: "untyped" });
    expect([untyped.status, untyped.body]).toMatchObject([500, { code: "WORKFLOW_FAILED" }]);
    expect(JSON.stringify(untyped.body)).not.toContain("secret of the carrier");
  });

  it("shows a run's report to its starter, and to no other caller", async () => {
    const headers = { prefer: "respond-async" };
    const begun = await app.as(ann).request("POST", "/api/orders/place", { item: "later" }, headers);
    expect(begun.status).toBe(202);
    const { runId, location } = begun.body as { readonly runId: string; readonly location: string };
    await expect.poll(() => statusInDbos(runId), { timeout: 10_000 }).toBe("SUCCESS");
    const report = await app.as(ann).request("GET", location);
    expect(report.body).toMatchObject({ id: runId, status: "completed", result: { charged: true } });
    expect((await app.as({ id: "bob" }).request("GET", location)).status).toBe(404);
  });

  it("runs an id once, whichever process starts it again", async () => {
    gate = deferred();
    const begin = (user: { readonly id: string }): Promise<WorkflowResult> =>
      runWorkflow(gated, { resolve: app.api.resolve, user, runId: "once" });
    const first = begin(ann);
    const second = begin(ann);
    gate.resolve();
    expect(await second).toBe(await first);
    expect((await begin(ann)).results).toEqual({ wait: "open" });
    await expect(begin({ id: "bob" })).rejects.toMatchObject({ status: 409 });
  });

  it("has a log in DBOS that cannot be read without the app's keys", async () => {
    const ended = await runWorkflow(placeAll as never, {
      resolve: app.api.resolve,
      user: { id: "canary-user" },
      input: { item: "canary-item", card: CARD },
    });
    expect(ended.success).toBe(true);
    const id = [ended.metadata.id];
    const status = await sql.query("SELECT s::text AS text FROM dbos.workflow_status s WHERE workflow_uuid = $1", id);
    const entries = await sql.query(
      "SELECT o::text AS text FROM dbos.operation_outputs o WHERE workflow_uuid = $1",
      id,
    );
    expect([status.rows.length, entries.rows.length > 4]).toEqual([1, true]);
    const all = [...status.rows, ...entries.rows].map(({ text }) => text).join("\n");
    expect(all).toContain("charge: execute, done");
    for (const canary of [CARD, "canary-item", "canary-user"]) expect(all).not.toContain(canary);
    const { rows } = await sql.query('SELECT r::text AS text FROM "workflowRun" r WHERE id = $1', id);
    expect(rows.map(({ text }) => text.includes(CARD))).toEqual([false]);
    expect(logger.lines.join("\n")).not.toContain("canary");
  });
});

describe("a process that dies", () => {
  let count = 0;

  async function begin(input: PlaceInput): Promise<{ readonly runId: string; readonly child: ChildProcess }> {
    const script = await childProgram(new URL("dbos.child.ts", import.meta.url));
    const runId = `run-${++count}`;
    const child = spawn(process.execPath, [script, database.url, runId, JSON.stringify(input)], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      env: { ...process.env, MAY_DIE: "yes" },
    });
    return { runId, child };
  }

  async function killed(input: PlaceInput): Promise<{ readonly runId: string; readonly ended: WorkflowResult }> {
    const { runId, child } = await begin(input);
    const [, signal] = await once(child, "exit");
    expect(signal).toBe("SIGKILL");
    return { runId, ended: await run(input, runId) };
  }

  it("leaves a repeatable step to another process, which calls with the same key", async () => {
    const { runId, ended } = await killed({ item: "again", dieIn: "charge" });
    expect(ended.status).toBe("completed");
    expect(await calls(runId)).toEqual(["charge", "charge", "pack"]);
    const { data } = await app.api.asSystem().call.list({ where: { run: runId, what: "charge" } });
    expect(new Set(data.map(({ key }) => key))).toEqual(new Set([`${runId}:1:execute`]));
    expect(await orders("again")).toBe(1);
  });

  it("has an unrepeatable step compensated, together with those before it", async () => {
    const before = await left();
    const { runId, ended } = await killed({ item: "unknown", dieIn: "pack" });
    expect(ended).toMatchObject({ status: "compensated", failedStep: "pack" });
    expect(await calls(runId)).toEqual(["charge", "pack", "undo pack ?", "undo charge true"]);
    expect([await left(), await orders("unknown")]).toEqual([before, 0]);
  });
});

describe("a process that is paused past its lease", () => {
  it("changes nothing any more, neither in DBOS nor in the app's database", { timeout: 60_000 }, async () => {
    const shared = await openPostgres();
    const options = { database: shared.address, engine: "dbos", leaseMs: 1_000, recoveryMs: 100, aheadMs: 0 } as const;
    const paused = await startOrderProcess({ ...options, push: "auto" });
    const places = { a: "execute charge: inside", b: "execute create: inside", c: "execute notify: inside" };
    await paused.stopAt(Object.entries(places).map(([runId, at]) => ({ runId, at })));
    paused.process.kill("SIGSTOP");
    const other = await startOrderProcess({ ...options, push: "off" });
    await other.settled();
    paused.process.kill("SIGCONT");
    for (const runId of Object.keys(places)) {
      paused.send({ goOn: runId });
      expect(await paused.told(({ ended }) => ended === runId)).toMatchObject({ status: "given up" });
    }
    await Promise.all([paused.close(), other.close()]);
    const traces = await orderTraces(shared);
    const seen = Object.keys(places).map((runId) => traces.get(runId) as OrderTraces);
    expect(seen.map(({ status }) => status)).toEqual(["compensated", "completed", "completed"]);
    expect(seen.map(wrongWith)).toEqual([[], [], []]);
    await shared.drop();
  });
});

describe("the engine on DBOS", () => {
  it("says what to install when the package is missing", async () => {
    const path = pathToFileURL("/nowhere/app.js").href;
    const missing = (): Promise<never> =>
      Promise.reject(
        Object.assign(new TypeError(`Cannot find package '@dbos-inc/dbos-sdk' imported from ${path}`), {
          code: "ERR_MODULE_NOT_FOUND",
        }),
      );
    await expect(loadDbos(missing)).rejects.toThrow(
      'dbosEngine() needs "@dbos-inc/dbos-sdk". Run: npm i @dbos-inc/dbos-sdk',
    );
    await expect(loadDbos(() => Promise.reject(new TypeError("broken")))).rejects.toThrow("cannot load");
  });

  it("is a single instance per process", async () => {
    const second = openApp(database.url);
    await expect(second.api.ready).rejects.toThrow("DBOS runs in this process already");
    await second.close();
    expect((await run({ item: "still there" })).status).toBe("completed");
  });

  it("can be restarted in the same process, and continues unfinished runs", async () => {
    gate = deferred();
    begun = deferred();
    const result = runWorkflow(gated, { resolve: app.api.resolve, user: ann, runId: "left" });
    const outcome = result.catch((error: unknown) => error);
    await begun.promise; // a step that has not begun is not in doubt: it would simply run
    expect(await statusInDbos("left")).toBe("PENDING");
    await app.close();
    expect(await outcome).toMatchObject({ status: 503 });
    app = open();
    await app.api.ready;
    gate.resolve();
    const ended = await runWorkflow(gated, { resolve: app.api.resolve, user: ann, runId: "left" });
    expect(ended).toMatchObject({ status: "compensated", failedStep: "wait" });
  });

  it("starts, and starts runs, when DBOS's database is available again", { timeout: 60_000 }, async () => {
    await app.close();
    const gate = await gateTo(database.url);
    const away = recordingLogger();
    app = openApp(database.url, { logger: away, more, dbosUrl: gate.url, leaseMs: 60_000 });
    await expect(app.api.ready).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" });
    await gate.open();
    const answer = async (): Promise<number> => (await app.as(ann).request("GET", "/api/orders")).status;
    await expect.poll(answer, { timeout: 20_000 }).toBe(200);
    await gate.close();
    const result = run({ item: "when it is back" });
    const complaints = (): string => away.lines.join("\n");
    await expect.poll(complaints, { timeout: 10_000 }).toContain("Database connection failed");
    await gate.open();
    expect((await result).status).toBe("completed");
    await app.close();
    await gate.close();
    app = open();
    await app.api.ready;
  });

  it("marks a run that was cancelled in DBOS for attention", async () => {
    gate = deferred();
    const result = runWorkflow(gated, { resolve: app.api.resolve, user: ann, runId: "cancelled" });
    await expect.poll(() => statusInDbos("cancelled"), { timeout: 10_000 }).toBe("PENDING");
    await DBOS.cancelWorkflow("cancelled");
    gate.resolve();
    await expect(result).rejects.toMatchObject({ status: 503 });
    const report = async () => (await app.as(ann).request("GET", "/api/workflow-runs/cancelled")).body;
    await expect.poll(report, { timeout: 10_000 }).toMatchObject({ status: "needs_attention" });
  });

  it.each(["", "sqlite.db", "mysql://a:b@localhost/c", "postgres://localhost/app", "postgres://me@localhost"])(
    "refuses a URL that is not PostgreSQL: %j",
    (databaseUrl) => {
      expect(() => dbosEngine({ databaseUrl })).toThrow("dbosEngine() needs a databaseUrl");
    },
  );
});
