import { ConfigurationError } from "../../../entity/index.ts";
import { type Driver, defaultIds, type OperationScope, type Row } from "../../../gate/index.ts";
import { ConflictError, describeError } from "../../../kernel/index.ts";
import { definitionHash, type WorkflowDefinition, type WorkflowResult } from "../definition/workflow.ts";
import { RunGivenUp } from "../saga/attempt.ts";
import { newState, type Phase, type SagaRuntime, type SagaState } from "../saga/saga-runtime.ts";
import { databaseJournal, keepLease, loadState } from "./database-journal.ts";
import { type FollowParts, followRun } from "./follow-run.ts";
import { type Codec, createCodec } from "./journal-codec.ts";
import { callerNow, type Recovery, recoverRuns } from "./recover-runs.ts";
import { type Lease, newRun, RUN, runReport, STEP, settledUse, stepState } from "./stored-run.ts";
import {
  assertSameRun,
  type Caller,
  type EngineHost,
  type RunHandle,
  type RunReport,
  type RunRequest,
  runInApp,
  type SameRun,
  type StepState,
  sameRun,
  type WorkflowEngine,
} from "./workflow-engine.ts";

/** A run of this process. */
interface OwnRun {
  /** The identity that a second run with the same id must match. */
  readonly same: SameRun;
  readonly result: Promise<WorkflowResult>;
  readonly lost: AbortController;
}

/** A run that this process works on. */
interface WorkingRun extends Pick<Lease, "runId" | "fence"> {
  readonly startedAt: Date;
  readonly input: unknown;
  /** The stored caller. */
  readonly kept: unknown;
}

/** Runs that survive their process: each step is recorded in the database before and after it runs. */
export function journalEngine(options: JournalOptions = {}): WorkflowEngine {
  const { leaseMs, recoveryMs, concurrency, maxRecoveries, reached } = completeJournalOptions(options);
  const owner = defaultIds.next();
  const running = new Map<string, OwnRun>();
  const beginning = new Map<string, Promise<unknown>>();
  const stopping = new AbortController();
  let host: EngineHost;
  let codec: Codec;
  let recovery: Recovery | undefined;

  /** Runs a workflow under a lease that is renewed while it runs. */
  function work(
    { kept, ...run }: WorkingRun,
    definition: WorkflowDefinition,
    caller: Caller,
    state: SagaState,
    own: Codec,
  ): Promise<WorkflowResult> {
    const { runId, fence } = run;
    const lost = new AbortController();
    const lease: Lease = { runId, fence, owner, leaseMs };
    let beat: NodeJS.Timeout | undefined;
    const result = runInApp(host, definition, caller, state, (system) => {
      beat = keepLease(system, lease, lost, host.log);
      const journal = databaseJournal(system, lease, own, () => settledUse(host, caller, kept));
      return { ...run, journal, isDurable: true, lost: lost.signal, reached };
    }).finally(() => {
      clearInterval(beat);
      // The run may have been lost and then resumed by this process, with a new entry.
      if (running.get(runId)?.lost === lost) running.delete(runId);
    });
    running.set(runId, { same: sameRun(definition, caller, run.input), result, lost });
    result.catch((error: unknown) => {
      if (error instanceof RunGivenUp)
        host.log.warn("A workflow goes on elsewhere, or later", { runId, ...describeError(error) });
      else host.log.error("A workflow broke off", { runId, ...describeError(error) });
    });
    return result;
  }

  function isOurs(runId: string): boolean {
    return running.get(runId)?.lost.signal.aborted === false;
  }

  async function goOn(system: OperationScope, row: Row, definition: WorkflowDefinition) {
    const state = await loadState(system.driver, row, definition, codec);
    const kept = codec.decode(row.caller as string | null) as Caller;
    const caller = await callerNow(host, system, definition, kept, state);
    const input = codec.decode(row.input as string | null);
    const { id, fence, startedAt } = row as { id: string; fence: number; startedAt: Date };
    const run = { runId: id, fence, startedAt, input, kept: row.caller };
    const ended = (): void => {};
    return { end: work(run, definition, caller, state, codec.forRun()).then(ended, ended) };
  }

  async function begin(request: RunRequest): Promise<RunHandle> {
    const { workflow, caller, input, runId = defaultIds.next() } = request;
    // The second of two concurrent calls with the same id finds the run that the first has started.
    while (beginning.has(runId)) await beginning.get(runId);
    const known = running.get(runId);
    if (known !== undefined) {
      assertSameRun(runId, known.same, sameRun(workflow, caller, input));
      return { runId, result: known.result };
    }
    const begun = create(request, runId);
    const settled = begun.catch(() => {});
    beginning.set(runId, settled);
    try {
      return await begun;
    } finally {
      beginning.delete(runId);
    }
  }

  async function create(request: RunRequest, runId: string): Promise<RunHandle> {
    const { workflow, input, data, caller } = request;
    const state = newState({ ...workflow.data, ...data }, request);
    const own = codec.forRun(input, state.data);
    try {
      const { startedAt, caller: kept } = await host.runAs("system", async (scope) => {
        const row = newRun(host, request, state.data, { runId, owner, fence: 0, leaseMs }, own, scope.app.now());
        await scope.driver.create(RUN, row);
        return row;
      });
      return { runId, result: work({ runId, fence: 0, startedAt, input, kept }, workflow, caller, state, own) };
    } catch (error) {
      if (!(error instanceof ConflictError) || request.runId === undefined) throw error;
      const here = (): Promise<WorkflowResult> | undefined => running.get(runId)?.result;
      const pollMs = Math.min(recoveryMs, 1_000);
      return attachRun({ host, codec, here, pollMs, signal: stopping.signal }, request, runId, error);
    }
  }

  return Object.freeze<WorkflowEngine>({
    name: "journal",
    usesJournal: true,
    start(given) {
      host = given;
      codec = createCodec(given.entities);
      recovery = recoverRuns({ host, owner, leaseMs, recoveryMs, concurrency, maxRecoveries, isOurs, goOn });
    },
    run: begin,
    report: (runId) => storedReport(host, codec, runId),
    async stop() {
      stopping.abort();
      // The app has already waited for running work as long as it may. The next process resumes the rest.
      const quiet = recovery?.stop();
      giveUp();
      await quiet;
      giveUp(); // runs that were being resumed
      await Promise.allSettled([...running.values()].map(({ result }) => result));
    },
  });

  function giveUp(): void {
    for (const { lost } of running.values()) lost.abort();
  }
}

/**
 * The stored report of a run and its steps, with the result of the last step if the run has completed. Undefined if
 * there is no such run.
 */
function storedReport(host: EngineHost, codec: Codec, runId: string): Promise<RunReport | undefined> {
  return host.runAs("system", async ({ driver }) => {
    const row = await driver.findOne(RUN, { id: runId });
    if (row === null) return undefined;
    const { steps = [] } = host.workflows.get(row.name as string) ?? {};
    const last =
      row.status === "completed"
        ? await driver.findOne(STEP, { id: `${runId}:${steps.length - 1}:execute` })
        : undefined;
    return {
      ...runReport(row),
      ...(await storedSteps(host, driver, row)),
      ...(last ? { result: codec.decode(last.result as string | null) } : {}),
    };
  });
}

const STEP_COLUMNS = ["seq", "phase", "status", "attempt", "error", "createdAt", "updatedAt"];

async function storedSteps(host: EngineHost, driver: Driver, run: Row): Promise<Pick<RunReport, "steps">> {
  const definition = host.workflows.get(run.name as string);
  if (definition === undefined || definitionHash(definition) !== run.definition) return {};
  const rows = await driver.findMany(STEP, { where: { runId: run.id }, select: STEP_COLUMNS });
  const stateOf = (seq: number, phase: Phase): StepState | undefined => {
    const found = rows.find((row) => row.seq === seq && row.phase === phase);
    return found && stepState(found);
  };
  return {
    steps: definition.steps.map(({ name }, seq) => ({
      name,
      execute: stateOf(seq, "execute"),
      compensate: stateOf(seq, "compensate"),
    })),
  };
}

/**
 * Attaches to a run that was started before with the same id, here or in another process, and waits for its end.
 * @param conflict the error from inserting the run again
 * @throws ConflictError when the existing run has another workflow, caller or input
 */
async function attachRun(
  parts: FollowParts,
  { workflow, caller, input }: RunRequest,
  runId: string,
  conflict: ConflictError,
): Promise<RunHandle> {
  const row = await parts.host.runAs("system", ({ driver }) => driver.findOne(RUN, { id: runId }));
  if (row === null) throw conflict;
  const { encode, decode } = parts.codec;
  const whose = decode(row.caller as string | null) as Caller;
  const stored = decode(row.input as string | null);
  const known = sameRun({ ...workflow, name: row.name as string }, whose, stored, row.definition);
  assertSameRun(runId, known, sameRun(workflow, caller, decode(encode(input))));
  const result = followRun(parts, workflow, runId);
  result.catch(() => {}); // a caller that does not wait can look up the run
  return { runId, result };
}

/** Options of the engine that keeps its journal in the app's database. */
export interface JournalOptions {
  /**
   * Milliseconds after which a process that does not renew its leases loses its runs. Runs wait that long when their
   * process dies, and also after its restart. Must be more than the longest transaction of a step, and more than the
   * difference between the clocks of two machines: leases are written and read in the app's time. @default 30000
   */
  readonly leaseMs?: number | undefined;
  /** Milliseconds between searches for interrupted runs. @default 10000 */
  readonly recoveryMs?: number | undefined;
  /** The number of runs that are resumed at the same time. @default 4 */
  readonly concurrency?: number | undefined;
  /**
   * The number of times a run is resumed before it needs attention, so that a run that kills its process is not resumed
   * for ever. @default 100
   */
  readonly maxRecoveries?: number | undefined;
  /** Called at each point of a run. @default none */
  readonly reached?: SagaRuntime["reached"] | undefined;
}

/** Completes the options with defaults. @throws ConfigurationError for numbers below 1 */
export function completeJournalOptions(options: JournalOptions) {
  const { leaseMs = 30_000, recoveryMs = 10_000, concurrency = 4, maxRecoveries = 100, reached } = options;
  const numbers = { leaseMs, recoveryMs, concurrency, maxRecoveries };
  for (const [name, value] of Object.entries(numbers))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new ConfigurationError(`The journal of workflows: ${name} must be a whole number from 1`);
  return { ...numbers, reached };
}
