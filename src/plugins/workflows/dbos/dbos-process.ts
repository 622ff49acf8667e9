import { AsyncResource } from "node:async_hooks";
import { ConfigurationError } from "../../../entity/index.ts";
import { ConflictError, DatabaseUnavailableError, describeError, type Logger } from "../../../kernel/index.ts";

const PACKAGE = "@dbos-inc/dbos-sdk";

/** What this adapter needs of the optional package. */
type DbosSdk = Pick<typeof import("@dbos-inc/dbos-sdk"), "DBOS" | "DBOSWorkflowConflictError">;

/** @throws ConfigurationError with the command that installs it, when it is not installed */
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

/** Name of the one workflow function, in the tables of DBOS: which workflow of the app a run is, its row says. */
const WORKFLOW = "keelson.run";
const QUEUE = "keelson.runs";
/** Milliseconds in which DBOS records the last ends. */
const RECORDING_MS = 1_000;

/** What DBOS knows of a run: an entry for each step that began or ended, in order. */
export interface StepLog {
  readonly entries: readonly string[];
  /** Adds an entry. @param name what tools of DBOS show @throws when another execution has the run by now */
  record(name: string, entry: string): Promise<void>;
}

/**
 * Executes a run that DBOS hands to this process; resolves to its status. An error leaves the run to another process.
 */
export type ExecuteRun = (runId: string, log: StepLog) => Promise<string>;

export interface DbosProcessOptions {
  readonly databaseUrl: string;
  readonly name: string;
  /** Runs that this process takes over at the same time. */
  readonly concurrency: number;
  /** Milliseconds between looks at the queue. */
  readonly pollMs: number;
  /** This process, among those that share the database. */
  readonly owner: string;
  readonly log: Logger;
  readonly execute: ExecuteRun;
}

/** DBOS, as far as an engine uses it. */
export interface DbosProcess {
  /**
   * Starts a run in this process. Resolves when DBOS has recorded it.
   * @param ended called when it has ended, here or elsewhere
   */
  start(runId: string, ended: () => void): Promise<void>;
  /** Gives a run to whichever process is free. False when DBOS has ended it: cancelled, for example. */
  handOver(runId: string): Promise<boolean>;
  entriesOf(runId: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** DBOS is a singleton, with a registry of functions that cannot be undone. */
let inUse: { readonly execute: ExecuteRun; readonly outside: AsyncResource } | undefined;
let registered: ((runId: string) => Promise<string>) | undefined;

/**
 * Starts DBOS in this process, and creates its tables where they are missing.
 * @throws ConfigurationError when the package is missing, or DBOS runs already; DatabaseUnavailableError
 */
export async function startDbos(options: DbosProcessOptions): Promise<DbosProcess> {
  const { databaseUrl, name, concurrency, pollMs, owner, log, execute } = options;
  const sdk = await loadDbos();
  const { DBOS } = sdk;
  if (inUse !== undefined || DBOS.isInitialized())
    throw new ConfigurationError("DBOS runs in this process already; it is one per process, and so is dbosEngine()");
  // DBOS counts calls made while one of its runs is active. All calls but the log's are made from here, outside any
  // run.
  const outside = new AsyncResource("keelson.dbos");
  inUse = { execute, outside };
  registered ??= DBOS.registerWorkflow((runId: string) => runHere(sdk, runId), { name: WORKFLOW });
  try {
    DBOS.setConfig({
      name,
      systemDatabaseUrl: databaseUrl,
      executorID: owner,
      applicationVersion: "1", // definitions have hashes of their own
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
      // What has ended here is to be known to have ended; what was given up waits for others.
      await DBOS.shutdown({ workflowCompletionTimeoutMS: RECORDING_MS });
    } finally {
      inUse = undefined;
    }
  }

  async function start(runId: string, ended: () => void): Promise<void> {
    const run = registered as NonNullable<typeof registered>;
    const handle = await DBOS.startWorkflow(run, { workflowID: runId })(runId);
    handle.getResult().then(ended, ended); // how it ended is in the app's database, and so is what went wrong
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

/** The workflow function. Its steps are the entries of the log, those of earlier executions first. */
async function runHere({ DBOS, DBOSWorkflowConflictError }: DbosSdk, runId: string): Promise<string> {
  if (DBOS.workflowID !== runId) throw new ConflictError("A run cannot be forked: its steps have keys of their own");
  const used = inUse;
  // The only error that DBOS does not record: it waits for the process that finishes the run.
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
