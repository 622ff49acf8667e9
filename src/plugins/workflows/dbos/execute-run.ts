import type { OperationScope, Row } from "../../../gate/index.ts";
import { ConflictError } from "../../../kernel/index.ts";
import {
  definitionHash,
  type WorkflowDefinition,
  type WorkflowResult,
  type WorkflowStatus,
} from "../definition/workflow.ts";
import { databaseJournal, entryOf, keepLease, UNFINISHED } from "../engine/database-journal.ts";
import type { Codec } from "../engine/journal-codec.ts";
import { callerNow } from "../engine/recover-runs.ts";
import type { Lease } from "../engine/stored-run.ts";
import { RUN, settledUse } from "../engine/stored-run.ts";
import { type Caller, type EngineHost, runInApp, type SameRun } from "../engine/workflow-engine.ts";
import { RunGivenUp } from "../saga/attempt.ts";
import type { Journal, Phase, SagaRuntime, SagaState } from "../saga/saga-runtime.ts";
import type { StepLog } from "./dbos-process.ts";
import { type KeptRun, keptRun, type RunCipher } from "./kept-run.ts";

/** The parts of one execution of a run. */
export interface ExecutionParts extends Pick<Lease, "owner" | "leaseMs"> {
  readonly host: EngineHost;
  readonly codec: Codec;
  readonly reached: SagaRuntime["reached"];
  /** The run, if it started in this process. */
  readonly begun: BegunRun | undefined;
  /** Aborted when this process no longer holds the run. */
  readonly lost: AbortController;
}

/**
 * Runs a workflow that DBOS assigned to this process, from the state in its entries.
 * @returns the outcome, or the status if there was nothing to do
 * @throws RunGivenUp when the run belongs to another process
 */
export async function executeRun(
  parts: ExecutionParts,
  runId: string,
  log: StepLog,
): Promise<WorkflowResult | WorkflowStatus> {
  const { host, codec, begun, reached, lost, owner, leaseMs } = parts;
  const taken = await host.runAs("system", (system) => claim(system, parts, runId, log));
  if (typeof taken === "string") return taken;
  const { row, definition, kept, isFirst } = taken;
  const lease: Lease = { runId, owner, fence: row.fence as number, leaseMs };
  const first = isFirst ? begun : undefined;
  const { input, state } = first ?? kept;
  const caller = first?.caller ?? taken.caller;
  const own = first?.codec ?? codec.forRun();
  let beat: NodeJS.Timeout | undefined;
  try {
    return await runInApp(host, definition, caller, state, (system) => {
      beat = keepLease(system, lease, lost, host.log);
      const inApp = databaseJournal(system, lease, own, () => settledUse(host, caller, row.caller));
      const journal = dbosJournal({ definition, log, codec: own, cipher: kept.cipher, inApp });
      return { runId, input, startedAt: row.startedAt as Date, journal, isDurable: true, lost: lost.signal, reached };
    });
  } finally {
    clearInterval(beat);
  }
}

interface Claimed {
  readonly row: Row;
  readonly definition: WorkflowDefinition;
  readonly kept: KeptRun;
  /** The stored caller, or the current user if the app has `userOf`. */
  readonly caller: Caller;
  /** Whether this is the run's first execution. */
  readonly isFirst: boolean;
}

/** Claims a run that no process holds: one that started here or was handed over. */
async function claim(
  system: OperationScope,
  { host, codec, owner, leaseMs, begun }: ExecutionParts,
  runId: string,
  { entries }: StepLog,
): Promise<Claimed | WorkflowStatus> {
  const { driver } = system;
  const row = await driver.findOne(RUN, { id: runId });
  if (row === null) throw new ConflictError(`There is no run ${runId} in the app's database`);
  if (!UNFINISHED.includes(row.status as WorkflowStatus)) return row.status as WorkflowStatus;
  const definition = host.workflows.get(row.name as string);
  const fits = definition !== undefined && definitionHash(definition) === row.definition;
  // A run that started here may have been handed over since: DBOS was unavailable, and another process has run some
  // steps.
  const isFirst = begun !== undefined && row.owner === owner;
  const free = { id: runId, fence: row.fence, owner: isFirst ? owner : null };
  const leaseUntil = new Date(system.app.now().getTime() + leaseMs);
  const change = { owner, leaseUntil, ...(fits ? {} : { status: "needs_attention" }) };
  if ((await driver.updateMany(RUN, free, change)) !== 1)
    throw new RunGivenUp(new ConflictError(`Another process has the run ${runId}`));
  if (fits) {
    const kept = await keptRun(driver, row, entries, definition, codec);
    const stored = codec.decode(row.caller as string) as Caller;
    const caller = isFirst ? stored : await callerNow(host, system, definition, stored, kept.state);
    return { row, definition, isFirst, kept, caller };
  }
  const about = { runId, workflow: row.name };
  host.log.error("A run needs attention: its workflow has changed since it began", about);
  return "needs_attention";
}

/** The parts of a run's journal. */
interface DbosJournalParts {
  readonly definition: WorkflowDefinition;
  readonly log: StepLog;
  readonly codec: Codec;
  readonly cipher: RunCipher;
  /** Writes the status of the run, and entries that must commit together with a step's work. */
  readonly inApp: Journal;
}

/**
 * A journal in the step log of DBOS. Entity steps write their entries in the app's database, in their own transactions.
 */
function dbosJournal({ definition, log, codec, cipher, inApp }: DbosJournalParts): Journal {
  async function record(what: string, seq: number, phase: Phase, entry: Row): Promise<void> {
    const name = `${definition.steps[seq]?.name}: ${phase}, ${what}`;
    await log.record(name, cipher.seal(JSON.stringify({ seq, phase, ...entry })));
  }
  return {
    started: (seq, phase, attempt) => record("started", seq, phase, { status: "started", attempt }),
    async finished(seq, phase, outcome, environment) {
      if (environment !== undefined) return inApp.finished(seq, phase, outcome, environment);
      await record(outcome.status, seq, phase, entryOf(outcome, codec));
    },
    moved: inApp.moved,
  };
}

/** A run that started in this process: the values that exist only in its memory, and its result. */
export interface BegunRun {
  /** Includes passwords, which no journal keeps. */
  readonly input: unknown;
  readonly caller: Caller;
  /** Knows the passwords that must not be stored. */
  readonly codec: Codec;
  readonly state: SagaState;
  /** The identity that a second run with the same id must match. */
  readonly same: SameRun;
  readonly result: Promise<WorkflowResult>;
  settle(result: WorkflowResult): void;
  fail(error: unknown): void;
}

export function begunRun(given: Pick<BegunRun, "input" | "caller" | "codec" | "state" | "same">): BegunRun {
  let settle: BegunRun["settle"] = () => {};
  let fail: BegunRun["fail"] = () => {};
  const result = new Promise<WorkflowResult>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  return { ...given, result, settle, fail };
}
