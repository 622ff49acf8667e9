import { ConflictError, defaultIds, describeError, type OperationScope, type Row } from "../../../kernel/index.ts";
import { RunGivenUp } from "../saga/run-given-up.ts";
import { newState, type SagaRuntime, type SagaState } from "../saga/saga-runtime.ts";
import { definitionHash, type WorkflowDefinition } from "../workflow-definition.ts";
import type { WorkflowResult, WorkflowStatus } from "../workflow-result.ts";
import { type Codec, createCodec } from "./codec.ts";
import { databaseJournal, type Lease } from "./database-journal.ts";
import { RUN, STEP } from "./journal-entities.ts";
import { runInApp } from "./run-in-app.ts";
import { publicError } from "./stored-error.ts";
import { loadState } from "./stored-run.ts";
import type { Caller, EngineHost, RunHandle, RunReport, RunRequest, WorkflowEngine } from "./workflow-engine.ts";

/** Options of the engine that keeps a journal in the app's database. */
export interface JournalOptions {
  /** Milliseconds after which a process that says nothing has lost its runs. @default 30000 */
  readonly leaseMs?: number | undefined;
  /** Milliseconds between looks for runs that were left behind. @default 10000 */
  readonly recoveryMs?: number | undefined;
  /** Runs taken up at the same time. @default 4 */
  readonly concurrency?: number | undefined;
  /** Told where each run is. @default nobody is */
  readonly reached?: SagaRuntime["reached"] | undefined;
}

const UNFINISHED: readonly WorkflowStatus[] = ["pending", "running", "compensating"];

/** Runs that survive their process: each step is known to the database before it runs and when it has. */
export function journalEngine(options: JournalOptions = {}): WorkflowEngine {
  const { leaseMs = 30_000, recoveryMs = 10_000, concurrency = 4, reached } = options;
  const owner = defaultIds.next();
  const running = new Map<string, Promise<WorkflowResult>>();
  /** Those of them that somebody else began. */
  const taken = new Set<Promise<void>>();
  let host: EngineHost;
  let codec: Codec;
  let timer: NodeJS.Timeout | undefined;
  let isStopping = false;
  let looking: Promise<void> | undefined;

  /** Runs a workflow under a lease that is renewed while it runs. */
  async function work(
    run: Pick<Lease, "runId" | "fence"> & { readonly startedAt: Date; readonly input: unknown },
    definition: WorkflowDefinition,
    caller: Caller,
    state: SagaState,
  ): Promise<WorkflowResult> {
    const lost = new AbortController();
    const lease: Lease = { runId: run.runId, fence: run.fence, owner, leaseMs };
    let beat: NodeJS.Timeout | undefined;
    try {
      return await runInApp(host, definition, caller, state, (system) => {
        beat = setInterval(() => void renew(system, lease, lost), leaseMs / 3);
        const journal = databaseJournal(system, lease, codec);
        return { ...run, journal, isDurable: true, lost: lost.signal, reached };
      });
    } finally {
      clearInterval(beat);
      running.delete(run.runId);
    }
  }

  async function renew(system: OperationScope, lease: Lease, lost: AbortController): Promise<void> {
    const { runId, fence } = lease;
    const change = { leaseUntil: leaseFrom(system) };
    try {
      if ((await system.driver.updateMany(RUN, { id: runId, owner, fence }, change)) !== 1) lost.abort();
    } catch (error) {
      host.log.warn("The lease of a workflow could not be renewed", { runId, ...describeError(error) });
    }
  }

  function leaseFrom(scope: OperationScope): Date {
    return new Date(scope.now().getTime() + leaseMs);
  }

  function keep(runId: string, result: Promise<WorkflowResult>): Promise<WorkflowResult> {
    running.set(runId, result);
    result.catch((error: unknown) => {
      if (error instanceof RunGivenUp) host.log.warn("A workflow goes on elsewhere, or later", { runId });
      else host.log.error("A workflow broke off", { runId, ...describeError(error) });
    });
    return result;
  }

  /** Takes up what other processes, or this one before it died, left behind. */
  async function recover(): Promise<void> {
    while (!isStopping) {
      const left = await host.runAs("system", (scope) => {
        const where = { status: { in: UNFINISHED }, leaseUntil: { lt: scope.now() } };
        return scope.driver.findMany(RUN, { where, sort: OLDEST_FIRST, limit: concurrency - taken.size });
      });
      for (const row of left) await host.runAs("system", (scope) => takeUp(scope, row));
      if (left.length === 0 || taken.size === 0) return;
      if (taken.size >= concurrency) await Promise.race(taken);
    }
  }

  async function takeUp(system: OperationScope, row: Row): Promise<void> {
    const { driver } = system;
    const runId = row.id as string;
    const fence = (row.fence as number) + 1;
    const definition = host.workflows.get(row.name as string);
    const fits = definition !== undefined && definitionHash(definition) === row.definition;
    const found = { id: runId, fence: row.fence, status: row.status };
    const change = { fence, owner, leaseUntil: leaseFrom(system), ...(fits ? {} : { status: "needs_attention" }) };
    if ((await driver.updateMany(RUN, found, change)) !== 1) return; // somebody else was faster
    if (!fits) {
      host.log.error("A workflow has changed since a run of it began: the run needs attention", {
        runId,
        workflow: row.name,
      });
      return;
    }
    const state = await loadState(driver, row, definition, codec);
    const caller = codec.decode(row.caller as string | null) as Caller;
    const input = codec.decode(row.input as string | null);
    host.log.info("A workflow is taken up", { runId, workflow: row.name });
    const run = { runId, fence, startedAt: row.startedAt as Date, input };
    const end = keep(runId, work(run, definition, caller, state)).then(
      () => {},
      () => {},
    );
    taken.add(end);
    void end.then(() => taken.delete(end));
  }

  function look(): void {
    looking ??= recover()
      .catch((error: unknown) => host.log.warn("Looking for workflows failed", describeError(error)))
      .finally(() => {
        looking = undefined;
      });
  }

  async function begin({ workflow, input, data, caller, runId = defaultIds.next() }: RunRequest): Promise<RunHandle> {
    const known = running.get(runId);
    if (known !== undefined) return { runId, result: known };
    const startedAt = new Date();
    const state = newState({ ...workflow.data, ...data });
    const row = {
      id: runId,
      name: workflow.name,
      definition: definitionHash(workflow),
      status: "pending",
      caller: codec.encode(caller),
      userId: caller === null || caller === "system" ? null : caller.id,
      input: codec.encode(input),
      data: codec.encode(state.data),
      failedStep: null,
      error: null,
      startedAt,
      owner,
      leaseUntil: new Date(startedAt.getTime() + leaseMs),
      fence: 0,
      createdAt: startedAt,
      updatedAt: startedAt,
    };
    await host.runAs("system", ({ driver }) => driver.create(RUN, row));
    return { runId, result: keep(runId, work({ runId, fence: 0, startedAt, input }, workflow, caller, state)) };
  }

  return Object.freeze<WorkflowEngine>({
    name: "journal",
    start(given) {
      host = given;
      codec = createCodec(given.entities);
      timer = setInterval(look, recoveryMs).unref();
      look();
    },
    async run(request) {
      if (host.workflows.get(request.workflow.name) !== request.workflow)
        throw new ConflictError(
          `Workflow "${request.workflow.name}" is not one of this app's: name it in workflows({ workflows: [...] }), so that it can be taken up after a restart`,
        );
      return begin(request);
    },
    report: (runId) => host.runAs("system", ({ driver }) => reportOf(driver, runId)),
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await looking;
      await Promise.allSettled([...running.values()]);
    },
  });

  async function reportOf(driver: OperationScope["driver"], runId: string): Promise<RunReport | undefined> {
    const row = await driver.findOne(RUN, { id: runId });
    if (row === null) return undefined;
    const { name, status, startedAt, updatedAt, userId, failedStep, error } = row as unknown as StoredRun;
    const steps = host.workflows.get(name)?.steps.length ?? 0;
    const last =
      status === "completed" ? await driver.findOne(STEP, { id: `${runId}:${steps - 1}:execute` }) : undefined;
    return {
      id: runId,
      name,
      status,
      startedAt,
      updatedAt,
      userId,
      ...(failedStep === null ? {} : { failedStep, error: publicError(error) }),
      ...(last ? { result: codec.decode(last.result as string | null) } : {}),
    };
  }
}

const OLDEST_FIRST = [{ field: "startedAt", direction: "asc" }] as const;

interface StoredRun {
  readonly name: string;
  readonly status: WorkflowStatus;
  readonly startedAt: Date;
  readonly updatedAt: Date;
  readonly userId: string | null;
  readonly failedStep: string | null;
  readonly error: string | null;
}
