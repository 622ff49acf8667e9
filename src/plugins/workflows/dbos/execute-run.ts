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

/** An engine, for one execution of a run. */
export interface ExecutionParts extends Pick<Lease, "owner" | "leaseMs"> {
  readonly host: EngineHost;
  readonly codec: Codec;
  readonly reached: SagaRuntime["reached"];
  /** The run, when it began here. */
  readonly begun: BegunRun | undefined;
  /** Aborted when this process no longer holds the run. */
  readonly lost: AbortController;
}

/**
 * Runs what DBOS gave this process, from where its entries say it is.
 * @returns how it ended, or its status, when there was nothing to do
 * @throws RunGivenUp when the run is another process's
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
  /** As far as the journal and the app know. */
  readonly caller: Caller;
  /** Whether this is the run's first execution. */
  readonly isFirst: boolean;
}

/** Claims a run that no process holds: one that began here, or was handed over. */
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
  // One that began here may have been handed over since: DBOS was away, and others have done some of it.
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

/** What the journal of a run is made of. */
interface DbosJournalParts {
  readonly definition: WorkflowDefinition;
  readonly log: StepLog;
  readonly codec: Codec;
  readonly cipher: RunCipher;
  /** For what has to commit together with what a step did, and for where the run stands. */
  readonly inApp: Journal;
}

/** A journal in the step log of DBOS; entity steps have their entries in the app's database, in their own transactions. */
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

/** A run that began in this process: what only its memory has, and who waits for it. */
export interface BegunRun {
  /** With the passwords that no journal keeps. */
  readonly input: unknown;
  readonly caller: Caller;
  /** Knows the passwords that must not be written. */
  readonly codec: Codec;
  readonly state: SagaState;
  /** What a second run of the same id has to agree with. */
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
