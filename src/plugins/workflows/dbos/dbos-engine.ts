import { ConfigurationError, isKeelsonError } from "../../../entity/index.ts";
import { defaultIds, type Row } from "../../../gate/index.ts";
import { ConflictError, describeError } from "../../../kernel/index.ts";
import type { WorkflowResult } from "../definition/workflow.ts";
import type { loadState } from "../engine/database-journal.ts";
import { type FollowParts, followRun } from "../engine/follow-run.ts";
import { type Codec, createCodec } from "../engine/journal-codec.ts";
import { completeJournalOptions, type JournalOptions } from "../engine/journal-engine.ts";
import { recoverRuns } from "../engine/recover-runs.ts";
import { newRun, RUN, runReport } from "../engine/stored-run.ts";
import {
  assertSameRun,
  type Caller,
  type EngineHost,
  type RunHandle,
  type RunReport,
  type RunRequest,
  sameRun,
  type WorkflowEngine,
} from "../engine/workflow-engine.ts";
import { RunGivenUp } from "../saga/attempt.ts";
import { newState } from "../saga/saga-runtime.ts";
import { type DbosProcess, type StepLog, startDbos } from "./dbos-process.ts";
import { type BegunRun, begunRun, executeRun } from "./execute-run.ts";
import { type KeptInput, keptRun, newRunKey } from "./kept-run.ts";

/** Options of the engine on DBOS. Leases and recovery work as in `journalEngine`. */
export interface DbosOptions extends JournalOptions {
  /**
   * `postgres://user:password@host/database`: the database in which DBOS keeps its tables, in their own schema. It may
   * be the app's.
   */
  readonly databaseUrl: string;
  /** Distinguishes apps that share the database; the same in all processes of one app. @default "keelson" */
  readonly name?: string | undefined;
}

/**
 * Runs that any process of an app can continue. DBOS (`@dbos-inc/dbos-sdk`, PostgreSQL) stores their steps and assigns
 * them to processes. A process can have one such engine, because it can have one DBOS. All processes must share the
 * app's own database.
 * @throws ConfigurationError for a URL that is not a PostgreSQL URL
 * @example
 * plugins: (defaults) => defaults.replace("workflows", workflows({ engine: dbosEngine({ databaseUrl }) }))
 */
export function dbosEngine(options: DbosOptions): WorkflowEngine {
  const { databaseUrl, name = "keelson" } = options;
  const { leaseMs, recoveryMs, concurrency, maxRecoveries, reached } = completeJournalOptions(options);
  checkUrl(databaseUrl);
  const owner = defaultIds.next();
  const begun = new Map<string, BegunRun>();
  /** Aborted when the engine stops. `working` holds the runs in progress here, whichever process started them. */
  const stopping = new AbortController();
  const working = new Map<Promise<unknown>, { readonly runId: string; readonly lost: AbortController }>();
  let host: EngineHost;
  let codec: Codec;
  let dbos: DbosProcess | undefined;
  let known: KnownRuns | undefined;
  let recovery: ReturnType<typeof recoverRuns> | undefined;
  let isEncrypted = false;

  async function execute(runId: string, log: StepLog): Promise<string> {
    const own = begun.get(runId);
    const lost = new AbortController();
    try {
      if (stopping.signal.aborted) throw new RunGivenUp(new ConflictError("The app stops"));
      const work = executeRun({ host, codec, owner, leaseMs, reached, begun: own, lost }, runId, log);
      working.set(work, { runId, lost });
      const ended = await work.finally(() => working.delete(work));
      if (typeof ended === "string") return ended;
      own?.settle(ended);
      return ended.status;
    } catch (error) {
      if (own === undefined) tellOf(runId, error);
      else own.fail(error);
      throw error;
    }
  }

  function tellOf(runId: string, error: unknown): void {
    const about = { runId, ...describeError(error) };
    if (isKeelsonError(error) && error.status === 503) host.log.warn("A workflow goes on elsewhere, or later", about);
    else host.log.error("A workflow broke off", about);
  }

  function isOurs(runId: string): boolean {
    return [...working.values()].some((one) => one.runId === runId && !one.lost.signal.aborted);
  }

  /**
   * Returns a run to DBOS, which only resumes it on a process of the same name. Leases show which processes are gone
   * for good.
   */
  async function handOver(running: DbosProcess, { id, fence, name: workflow }: Row) {
    const runId = id as string;
    const change = (changes: Row): Promise<number> =>
      host.runAs("system", ({ driver }) => driver.updateMany(RUN, { id: runId, fence }, changes));
    await change({ owner: null });
    if (!(await running.handOver(runId))) {
      await change({ status: "needs_attention" });
      host.log.error("A run needs attention: it was ended in DBOS", { runId, workflow });
    }
    return { end: Promise.resolve() };
  }

  async function begin(request: RunRequest): Promise<RunHandle> {
    const { workflow, data, input, caller, runId = defaultIds.next() } = request;
    const same = sameRun(workflow, caller, input);
    const first = begun.get(runId);
    if (first !== undefined) {
      assertSameRun(runId, first.same, same);
      return { runId, result: first.result };
    }
    const state = newState({ ...workflow.data, ...data }, request);
    const run = begunRun({ input, caller, codec: codec.forRun(input, state.data), state, same });
    begun.set(runId, run);
    run.result.catch(() => {}).finally(() => begun.delete(runId));
    try {
      const kept: KeptInput = { input, key: isEncrypted ? newRunKey() : undefined };
      const lease = { runId, owner, fence: 0, leaseMs };
      await host.runAs("system", async (system) => {
        const row = newRun(host, { ...request, input: kept }, state.data, lease, run.codec, system.app.now());
        await system.driver.create(RUN, row);
      });
    } catch (error) {
      run.fail(error);
      if (!(error instanceof ConflictError) || request.runId === undefined) throw error;
      return (known as KnownRuns).attach(request, runId, error);
    }
    run.result.catch((error: unknown) => tellOf(runId, error));
    // The stored row guarantees that it will run. If DBOS is unavailable now, it runs later, perhaps in another
    // process.
    const elsewhere = (): void => run.fail(new RunGivenUp(new ConflictError("The run went on elsewhere")));
    (dbos as DbosProcess).start(runId, elsewhere).catch((error: unknown) => run.fail(new RunGivenUp(error)));
    return { runId, result: run.result };
  }

  return Object.freeze<WorkflowEngine>({
    name: "dbos",
    usesJournal: true,
    async start(given) {
      host = given;
      codec = createCodec(given.entities);
      isEncrypted = given.entities.get(RUN)?.fields.input?.encrypted !== undefined;
      const pollMs = Math.min(1_000, recoveryMs);
      const started = await startDbos({ databaseUrl, name, concurrency, pollMs, owner, log: given.log, execute });
      dbos = started;
      const here = (runId: string): Promise<WorkflowResult> | undefined => begun.get(runId)?.result;
      known = knownRuns({ host, codec, dbos: started, here, pollMs, signal: stopping.signal });
      const goOn = (_: unknown, row: Row): Promise<{ end: Promise<void> }> => handOver(started, row);
      recovery = recoverRuns({ host, owner, leaseMs, recoveryMs, concurrency, maxRecoveries, isOurs, goOn });
    },
    run: begin,
    report: async (runId) => known?.report(runId),
    async stop() {
      stopping.abort();
      await recovery?.stop();
      // The app has already waited for running work as long as it may. The next process resumes the rest.
      for (const { lost } of working.values()) lost.abort();
      await Promise.allSettled(working.keys());
      await dbos?.stop();
    },
  });
}

/** @throws ConfigurationError */
function checkUrl(databaseUrl: string): void {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined;
  const isPostgres = url?.protocol === "postgres:" || url?.protocol === "postgresql:";
  if (!isPostgres || url.username === "" || url.hostname === "" || url.pathname.length < 2)
    throw new ConfigurationError("dbosEngine() needs a databaseUrl such as postgres://user:password@host/database");
}

/** Runs that another process started, or that have ended. */
interface KnownRuns {
  report(runId: string): Promise<RunReport | undefined>;
  /** Attaches to the existing run with this id. @throws ConflictError if its workflow, caller or input differs */
  attach(request: RunRequest, runId: string, conflict: ConflictError): Promise<RunHandle>;
}

interface KnownRunsParts extends Pick<FollowParts, "host" | "codec" | "pollMs" | "signal"> {
  readonly dbos: DbosProcess;
  /** The outcome of a run, while it runs in this process. */
  here(runId: string): Promise<WorkflowResult> | undefined;
}

function knownRuns({ host, codec, dbos, here, pollMs, signal }: KnownRunsParts): KnownRuns {
  const load: typeof loadState = async (driver, row, definition) => {
    const texts = await dbos.entriesOf(row.id as string);
    return (await keptRun(driver, row, texts, definition, codec)).state;
  };

  function find(runId: string): Promise<Row | null> {
    return host.runAs("system", ({ driver }) => driver.findOne(RUN, { id: runId }));
  }

  return {
    async report(runId) {
      const row = await find(runId);
      if (row === null) return undefined;
      const report = runReport(row);
      const definition = host.workflows.get(report.name);
      if (report.status !== "completed" || definition === undefined) return report;
      const { executed } = await host.runAs("system", ({ driver }) => load(driver, row, definition, codec));
      const last = executed[definition.steps.length - 1];
      return last?.status === "done" ? { ...report, result: last.result } : report;
    },
    async attach({ workflow, caller, input }, runId, conflict) {
      const row = await find(runId);
      if (row === null) throw conflict;
      const whose = codec.decode(row.caller as string | null) as Caller;
      const stored = (codec.decode(row.input as string) as KeptInput).input;
      const known = sameRun({ ...workflow, name: row.name as string }, whose, stored, row.definition);
      assertSameRun(runId, known, sameRun(workflow, caller, codec.decode(codec.encode(input))));
      const result = followRun({ host, codec, here: () => here(runId), pollMs, signal, load }, workflow, runId);
      result.catch(() => {}); // a caller that does not wait can look up the run
      return { runId, result };
    },
  };
}
