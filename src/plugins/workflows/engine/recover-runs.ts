import type { OperationScope, Row } from "../../../gate/index.ts";
import { AuthenticationError, describeError, withDeadline } from "../../../kernel/index.ts";
import { definitionHash, type WorkflowDefinition } from "../definition/workflow.ts";
import type { SagaState } from "../saga/saga-runtime.ts";
import { UNFINISHED } from "./database-journal.ts";
import { RUN } from "./stored-run.ts";
import { type Caller, type EngineHost, isClosing } from "./workflow-engine.ts";

/** The parts of finding and resuming interrupted runs. */
export interface RecoveryParts {
  readonly host: EngineHost;
  readonly owner: string;
  readonly leaseMs: number;
  /** Milliseconds between searches. */
  readonly recoveryMs: number;
  /** The most runs that are resumed at the same time. */
  readonly concurrency: number;
  /** The number of times a run is resumed at most. */
  readonly maxRecoveries: number;
  /** Whether this process is working on a run: after a change of the clock its lease may look expired. */
  isOurs(runId: string): boolean;
  /** Continues a run that this process has taken over. @returns its end, which never rejects */
  goOn(system: OperationScope, row: Row, definition: WorkflowDefinition): Promise<{ readonly end: Promise<void> }>;
}

export interface Recovery {
  /**
   * Stops resuming runs. Resolves when no take-over is in progress; at the concurrency limit, that is when one of the
   * resumed runs has ended.
   */
  stop(): Promise<void>;
}

/** Resumes interrupted runs, from now on: those of other processes, and those of this process before a restart. */
export function recoverRuns(parts: RecoveryParts): Recovery {
  const { host, concurrency } = parts;
  const taken = new Set<Promise<void>>();
  let isStopping = false;
  let looking: Promise<void> | undefined;

  async function recover(): Promise<void> {
    while (!isStopping) {
      if (taken.size >= concurrency) {
        await Promise.race(taken);
        continue;
      }
      const left = await host.runAs("system", (scope) => expired(scope, concurrency - taken.size));
      let progress = 0;
      for (const row of left) if (!isStopping && (await takeUp(row))) progress += 1;
      // Either no runs are left, or other processes are faster. The next search will show it.
      if (progress === 0) return;
    }
  }

  /** @returns whether a run was taken over or renewed; a run that cannot be read does not block the others */
  async function takeUp(row: Row): Promise<boolean> {
    try {
      if (parts.isOurs(row.id as string)) return await host.runAs("system", (system) => renew(parts, system, row));
      const started = await host.runAs("system", (system) => takeOver(parts, system, row));
      if (started === undefined) return false;
      const end = started.end.then(() => void taken.delete(end));
      taken.add(end);
      return true;
    } catch (error) {
      host.log.error("A workflow could not be taken up", { runId: row.id, ...describeError(error) });
      return false;
    }
  }

  function look(): void {
    looking ??= recover()
      .catch(async (error: unknown) => {
        // A closing app refuses calls; other processes resume the remaining runs.
        if (!isStopping && !(await isClosing(host)))
          host.log.warn("Looking for workflows failed", describeError(error));
      })
      .finally(() => {
        looking = undefined;
      });
  }

  const timer = setInterval(look, parts.recoveryMs).unref();
  look();
  return {
    async stop() {
      clearInterval(timer);
      isStopping = true;
      await looking;
    },
  };
}

const OLDEST_FIRST = [{ field: "startedAt", direction: "asc" }] as const;

function expired(scope: OperationScope, limit: number): Promise<Row[]> {
  const where = { status: { in: UNFINISHED }, leaseUntil: { lt: scope.app.now() } };
  return scope.driver.findMany(RUN, { where, sort: OLDEST_FIRST, limit });
}

/** Renews the lease of a run that this process works on. @returns whether it still holds the run */
async function renew({ owner, leaseMs }: RecoveryParts, system: OperationScope, row: Row): Promise<boolean> {
  const leaseUntil = new Date(system.app.now().getTime() + leaseMs);
  return (await system.driver.updateMany(RUN, { id: row.id, owner, fence: row.fence }, { leaseUntil })) === 1;
}

/** Takes over a run that no process holds. @returns undefined if another process was faster */
async function takeOver(
  parts: RecoveryParts,
  system: OperationScope,
  row: Row,
): Promise<{ readonly end: Promise<void> } | undefined> {
  const { host, owner, leaseMs } = parts;
  const now = system.app.now();
  const definition = host.workflows.get(row.name as string);
  const problem = whyNot(definition, row, parts.maxRecoveries);
  const found = { id: row.id, fence: row.fence, status: row.status, leaseUntil: { lt: now } };
  const fence = (row.fence as number) + 1;
  const change = { fence, owner, leaseUntil: new Date(now.getTime() + leaseMs), updatedAt: now };
  const parked = problem === undefined ? {} : { status: "needs_attention" };
  if ((await system.driver.updateMany(RUN, found, { ...change, ...parked })) !== 1) return undefined;
  if (definition === undefined || problem !== undefined) {
    host.log.error(`A run needs attention: ${problem}`, { runId: row.id, workflow: row.name });
    return { end: Promise.resolve() };
  }
  host.log.info("A workflow is taken up", { runId: row.id, workflow: row.name });
  return parts.goOn(system, { ...row, ...change }, definition);
}

/** The reason why a run is not continued automatically; undefined if it can be. */
function whyNot(definition: WorkflowDefinition | undefined, row: Row, maxRecoveries: number): string | undefined {
  if (definition === undefined || definitionHash(definition) !== row.definition)
    return "its workflow has changed since it began";
  if ((row.fence as number) >= maxRecoveries) return `it was taken up ${maxRecoveries} times and never ended`;
  return undefined;
}

/**
 * The caller of a resumed run. Loads the current user if the app has `userOf`. If the user no longer exists, the run is
 * compensated.
 * @param kept the stored caller
 * @throws any error that `userOf` throws: the run waits for the next search
 */
export async function callerNow(
  { userOf }: EngineHost,
  system: OperationScope,
  definition: WorkflowDefinition,
  kept: Caller,
  state: SagaState,
): Promise<Caller> {
  // Compensations and runs without remaining steps do not need the caller's rights.
  const next = definition.steps.find((_, seq) => state.executed[seq]?.status !== "done");
  if (userOf === undefined || kept === null || kept === "system") return kept;
  if (state.failure !== undefined || next === undefined) return kept;
  const asking = (async () => userOf(kept.id))();
  const found = await withDeadline(asking, system.app.limits.hookMs, "userOf");
  if (found?.id === kept.id) return found;
  state.failure = { failedStep: next.name, error: new AuthenticationError("There is no such user any more") };
  return kept;
}
