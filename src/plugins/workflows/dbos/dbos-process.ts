import { AsyncResource } from "node:async_hooks";
import { ConfigurationError } from "../../../entity/index.ts";
import { ConflictError, DatabaseUnavailableError, describeError, type Logger } from "../../../kernel/index.ts";

const PACKAGE = "@dbos-inc/dbos-sdk";

/** The part of the optional package that this adapter uses. */
type DbosSdk = Pick<typeof import("@dbos-inc/dbos-sdk"), "DBOS" | "DBOSWorkflowConflictError">;

/** @throws ConfigurationError with the install command if the package is missing, or if it cannot be loaded */
export async function loadDbos(load: () => Promise<DbosSdk> = () => import("@dbos-inc/dbos-sdk")): Promise<DbosSdk> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    const isMissing = code === "ERR_MODULE_NOT_FOUND" && String(message).includes(`${PACKAGE}'`);
    throw new ConfigurationError(
      isMissing
        ? `dbosEngine() needs "${PACKAGE}". Run: npm i ${PACKAGE}`
        : `dbosEngine() cannot load "${PACKAGE}": ${String(message)}`,
      { cause: error },
    );
  }
}

/** Name of the only workflow function in the tables of DBOS. The run's row names the workflow of the app. */
const WORKFLOW = "keelson.run";
const QUEUE = "keelson.runs";
const STATES = Symbol.for("keelson.dbos");
/** Milliseconds that DBOS has at shutdown to record the last outcomes. */
const RECORDING_MS = 1_000;

/** The DBOS steps of a run: an entry for each start and end of a step, in order. */
export interface StepLog {
  readonly entries: readonly string[];
  /** Adds an entry. @param name shown by DBOS tools @throws when another execution has taken over the run */
  record(name: string, entry: string): Promise<void>;
}

/**
 * Executes a run that DBOS hands to this process; resolves to its status. An error leaves the run to another process.
 */
export type ExecuteRun = (runId: string, log: StepLog) => Promise<string>;

export interface DbosProcessOptions {
  readonly databaseUrl: string;
  readonly name: string;
  /** The most runs that this process takes over at the same time. */
  readonly concurrency: number;
  /** Milliseconds between polls of the queue. */
  readonly pollMs: number;
  /** The id of this process among those that share the database. */
  readonly owner: string;
  readonly log: Logger;
  readonly execute: ExecuteRun;
}

/** The part of DBOS that an engine uses. */
export interface DbosProcess {
  /**
   * Starts a run in this process. Resolves when DBOS has recorded it.
   * @param ended called when it has ended, in this process or another
   */
  start(runId: string, ended: () => void): Promise<void>;
  /**
   * Puts a run into the queue for the next free process. False if DBOS has ended it, for example because it was
   * cancelled.
   */
  handOver(runId: string): Promise<boolean>;
  entriesOf(runId: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** What this process has told DBOS. */
interface DbosState {
  inUse?: { readonly execute: ExecuteRun; readonly outside: AsyncResource } | undefined;
  registered?: (runId: string) => Promise<string>;
}

/**
 * DBOS is a singleton, and functions cannot be removed from its registry. Its state is stored on the process, because
 * bundlers and development servers load this module several times.
 */
function stateOf(dbos: DbosSdk["DBOS"]): DbosState {
  const shared = globalThis as { [STATES]?: WeakMap<object, DbosState> };
  shared[STATES] ??= new WeakMap();
  const known = shared[STATES].get(dbos) ?? {};
  shared[STATES].set(dbos, known);
  return known;
}

/**
 * Starts DBOS in this process, and creates missing tables.
 * @throws ConfigurationError when the package is missing, or DBOS is already running; DatabaseUnavailableError
 */
export async function startDbos(options: DbosProcessOptions): Promise<DbosProcess> {
  const { databaseUrl, name, concurrency, pollMs, owner, log, execute } = options;
  const sdk = await loadDbos();
  const { DBOS } = sdk;
  const state = stateOf(DBOS);
  if (state.inUse !== undefined || DBOS.isInitialized())
    throw new ConfigurationError("DBOS runs in this process already; it is one per process, and so is dbosEngine()");
  // DBOS counts calls that are made while one of its runs is active. All calls except the log's are made outside of any
  // run.
  const outside = new AsyncResource("keelson.dbos");
  state.inUse = { execute, outside };
  state.registered ??= DBOS.registerWorkflow((runId: string) => runHere(sdk, runId), { name: WORKFLOW });
  try {
    DBOS.setConfig({
      name,
      systemDatabaseUrl: databaseUrl,
      executorID: owner,
      applicationVersion: "1", // workflow definitions have their own hashes
      enableOTLP: false,
      tracingEnabled: false,
      logger: {
        debug() {},
        info() {},
        warn: (entry) => log.warn("DBOS says", { entry: String(entry) }),
        error: (entry) => log.error("DBOS says", describeError(entry)),
      },
    });
    await DBOS.launch();
    await DBOS.registerQueue(QUEUE, { workerConcurrency: concurrency, minPollingIntervalMs: pollMs });
  } catch (error) {
    await stop();
    throw new DatabaseUnavailableError("DBOS could not be started", { cause: error });
  }

  async function stop(): Promise<void> {
    try {
      // Ended runs must be recorded as ended. Runs that were given up wait for other processes.
      await DBOS.shutdown({ workflowCompletionTimeoutMS: RECORDING_MS });
    } finally {
      state.inUse = undefined;
    }
  }

  async function start(runId: string, ended: () => void): Promise<void> {
    const run = state.registered as NonNullable<typeof state.registered>;
    const handle = await DBOS.startWorkflow(run, { workflowID: runId })(runId);
    handle.getResult().then(ended, ended); // the outcome and any error are stored in the app's database
  }

  return Object.freeze<DbosProcess>({
    start: (runId, ended) => outside.runInAsyncScope(start, undefined, runId, ended),
    handOver: (runId) =>
      outside.runInAsyncScope(async () => {
        const known = await DBOS.getWorkflowStatus(runId);
        if (known === null) await start(runId, () => {});
        else if (["PENDING", "ENQUEUED", "DELAYED"].includes(known.status))
          await DBOS.resumeWorkflow(runId, { queueName: QUEUE });
        else return false;
        return true;
      }),
    entriesOf: (runId) =>
      outside.runInAsyncScope(async () => {
        const steps = (await DBOS.listWorkflowSteps(runId)) ?? [];
        return steps.map(({ output }) => String(output));
      }),
    stop,
  });
}

/** The workflow function. Its DBOS steps are the entries of the log; it replays those of earlier executions first. */
async function runHere({ DBOS, DBOSWorkflowConflictError }: DbosSdk, runId: string): Promise<string> {
  if (DBOS.workflowID !== runId) throw new ConflictError("A run cannot be forked: its steps have keys of their own");
  const used = stateOf(DBOS).inUse;
  // The only error that DBOS does not record. DBOS then waits for the process that finishes the run.
  if (used === undefined) throw new DBOSWorkflowConflictError(runId);
  const inside = new AsyncResource(WORKFLOW);
  const record = (name: string, text: string): Promise<string> =>
    inside.runInAsyncScope(() => DBOS.runStep(async () => text, { name }));
  const missing = async (): Promise<never> => {
    throw new DBOSWorkflowConflictError(runId);
  };
  const steps = await used.outside.runInAsyncScope(() => DBOS.listWorkflowSteps(runId));
  const entries: string[] = [];
  for (const { name } of steps ?? []) entries.push(await DBOS.runStep<string>(missing, { name }));
  const log: StepLog = { entries, record: async (name, entry) => void (await record(name, entry)) };
  try {
    return await used.outside.runInAsyncScope(used.execute, undefined, runId, log);
  } catch {
    throw new DBOSWorkflowConflictError(runId);
  }
}
