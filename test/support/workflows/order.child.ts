// A process with the order app, which dies in the tests. Its parent says what to run and where to stop; the process reports
// when it is there, waits forever, and is killed. Its argument is described by `ChildOptions`.
import { embedded, journalEngine, postgres, runWorkflow, type WorkflowEngine } from "../../../src/index.ts";
import { dbosEngine } from "../../../src/plugins/workflows/dbos/index.ts";
import { orderApp } from "./order-app.ts";
import type { ChildOptions, FromChild, ToChild } from "./order-process.ts";

const { database, engine, aheadMs, push, points, ...journal } = JSON.parse(process.argv[2] as string) as ChildOptions;
const tell = (message: FromChild): void => void process.send?.(message);

/** Where runs stop, and how they continue. */
const stops = new Map<string, string>();
const waiting = new Map<string, () => void>();
let left = points ?? Number.POSITIVE_INFINITY;

async function reached(point: string, phase: string, step: string, runId: string): Promise<void> {
  left -= 1;
  if (left === 0) tell({ frozen: true });
  if (left <= 0) await new Promise(() => {});
  const place = `${phase} ${step}: ${point}`;
  if (stops.get(runId) !== place) return;
  stops.delete(runId);
  const released = new Promise<void>((resolve) => waiting.set(runId, resolve));
  tell({ at: runId });
  await released;
}

function engineOf(): WorkflowEngine {
  const options = { ...journal, reached };
  return engine === "dbos" ? dbosEngine({ ...options, databaseUrl: database }) : journalEngine(options);
}

const { api, order, prepare } = orderApp({
  driver: database.startsWith("postgres:") ? postgres(database, { push }) : embedded({ file: database, push }),
  engine: engineOf(),
  clock: { now: () => new Date(Date.now() + aheadMs) },
  inside: (phase, step, runId) => reached("inside", phase, step, runId),
});

const own = new Set<string>();

async function run(runId: string, fail: string | undefined): Promise<void> {
  own.add(runId);
  await prepare(runId);
  const context = { resolve: api.resolve, asSystem: true, runId, input: { fail } };
  const { status } = await runWorkflow(order, context).catch(() => ({ status: "given up" }));
  own.delete(runId);
  tell({ ended: runId, status });
}

/** Resolves when no work is left. */
async function settle(): Promise<void> {
  const isOpen = { status: { in: ["pending", "running", "compensating"] } };
  for (;;) {
    if (own.size === 0 && (await api.driver.count("workflowRun", isOpen)) === 0) return tell({ settled: true });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

process.on("message", (message: ToChild) => {
  if ("runs" in message) {
    for (const { runId, fail, at } of message.runs) {
      if (at !== undefined) stops.set(runId, at);
      void run(runId, fail);
    }
  } else if ("goOn" in message) waiting.get(message.goOn)?.();
  else if ("settle" in message) void settle();
  else void api.close().then(() => process.disconnect());
});
process.on("disconnect", () => process.exit());
await api.ready;
tell({ ready: true });
