import type { Driver, OperationScope, Row } from "../../../gate/index.ts";
import { ConflictError, describeError, type Logger } from "../../../kernel/index.ts";
import type { WorkflowDefinition, WorkflowStatus } from "../definition/workflow.ts";
import { RunGivenUp, StepInterruptedError } from "../saga/attempt.ts";
import type { Journal, Outcome, Phase, SagaState } from "../saga/saga-runtime.ts";
import { type Codec, hasGone } from "./journal-codec.ts";
import { errorOf, errorText, type Lease, RUN, STEP } from "./stored-run.ts";

/**
 * A journal in the app's database. Each entry shares a transaction with a statement that checks that this process still
 * holds the run. A process that was paused past its lease and has lost the run writes nothing (fencing).
 * @param settle returns additional changes to the row of a completed run
 */
export function databaseJournal(
  system: OperationScope,
  lease: Lease,
  codec: Codec,
  settle: () => Promise<Row>,
): Journal {
  const { runId } = lease;

  /** @throws RunGivenUp when another process has the run */
  async function hold(driver: Driver, change: Row = {}): Promise<void> {
    const where = { id: runId, owner: lease.owner, fence: lease.fence };
    const asked = performance.now();
    const leaseUntil = new Date(system.app.now().getTime() + lease.leaseMs);
    if ((await driver.updateMany(RUN, where, { ...change, leaseUntil })) !== 1)
      throw new RunGivenUp(new ConflictError(`Another process has taken over the run ${runId}`));
    lease.confirmedAt = asked;
  }

  async function write(driver: Driver, seq: number, phase: Phase, entry: Row): Promise<void> {
    const id = `${runId}:${seq}:${phase}`;
    const now = system.app.now();
    if ((await driver.update(STEP, { id }, { ...entry, updatedAt: now })) !== null) return;
    const empty = { result: null, memo: null, data: null, error: null, attempt: 1 };
    await driver.create(STEP, { ...empty, id, runId, seq, phase, ...entry, createdAt: now, updatedAt: now });
  }

  function within<T>(work: (driver: Driver) => Promise<T>): Promise<T> {
    return system.transaction((scope) => work(scope.driver));
  }

  return {
    started: (seq, phase, attempt) =>
      within(async (driver) => {
        await hold(driver);
        await write(driver, seq, phase, { status: "started", attempt });
      }),
    async finished(seq, phase, outcome, environment) {
      const entry = entryOf(outcome, codec);
      const record = async (driver: Driver): Promise<void> => {
        await hold(driver, outcome.status === "done" ? { data: entry.data } : {});
        await write(driver, seq, phase, entry);
      };
      return environment === undefined ? within(record) : record(environment.driver);
    },
    async moved(status, failure) {
      const settled = status === "completed" ? await settle() : {};
      const { failedStep, error, shown } = failure ?? {};
      const failed = error === undefined ? {} : { failedStep, error: errorText(error, shown) };
      await within((driver) => hold(driver, { status, updatedAt: system.app.now(), ...failed, ...settled }));
    },
  };
}

/** The row of a step's outcome. @throws ResultNotKept for a result that cannot be stored */
export function entryOf(outcome: Outcome, codec: Codec): Row {
  switch (outcome.status) {
    case "done":
      return {
        status: "done",
        result: codec.encode(outcome.result),
        memo: codec.encode(outcome.memo),
        data: codec.encode(outcome.data, outcome.shown),
      };
    case "failed":
      return { status: "failed", error: errorText(outcome.error, outcome.shown) };
    default:
      return { status: "unknown" };
  }
}

/**
 * Renews the lease on a run at intervals. A lease that could not be renewed in time counts as lost even if no other
 * process has taken over the run yet, because one may do so at any moment. Time is measured by this process's monotonic
 * clock, which cannot be changed.
 * @param lost aborted when this process no longer holds the run
 * @returns the interval, which must be cleared when the run has ended
 */
export function keepLease(system: OperationScope, lease: Lease, lost: AbortController, log: Logger): NodeJS.Timeout {
  const { runId, owner, fence, leaseMs } = lease;
  let isRenewing = false;
  lease.confirmedAt ??= performance.now();

  async function renew(): Promise<void> {
    if (performance.now() - (lease.confirmedAt as number) > leaseMs) return lost.abort();
    if (isRenewing) return; // a transaction may hold the run's row, or the database's only writer
    isRenewing = true;
    try {
      const asked = performance.now();
      const leaseUntil = new Date(system.app.now().getTime() + leaseMs);
      const isOurs = (await system.driver.updateMany(RUN, { id: runId, owner, fence }, { leaseUntil })) === 1;
      if (isOurs) lease.confirmedAt = asked;
      else lost.abort();
    } catch (error) {
      log.warn("The lease of a workflow could not be renewed", { runId, ...describeError(error) });
    } finally {
      isRenewing = false;
    }
  }
  return setInterval(() => void renew(), leaseMs / 3);
}

/** Statuses of runs that have not ended. */
export const UNFINISHED: readonly WorkflowStatus[] = ["pending", "running", "compensating"];

/** Loads the state from which a run is resumed. */
export async function loadState(
  driver: Driver,
  run: Row,
  definition: WorkflowDefinition,
  codec: Codec,
): Promise<SagaState> {
  return stateOf(run, await driver.findMany(STEP, { where: { runId: run.id } }), definition, codec);
}

/** The state of a run from its row and the rows of its steps. */
export function stateOf(run: Row, rows: readonly Row[], definition: WorkflowDefinition, codec: Codec): SagaState {
  const failed = rows.find(({ phase, status }) => phase === "execute" && status === "failed");
  const state: SagaState = {
    executed: [],
    compensated: [],
    shown:
      codec.shown(run.error as string | null) ??
      codec.shown(failed?.error as string) ??
      codec.shown(run.data as string),
    data: (codec.decode(run.data as string) ?? {}) as Record<string, unknown>,
    failure:
      run.failedStep === null
        ? undefined
        : { failedStep: run.failedStep as string, error: errorOf(run.error as string | null) },
  };
  for (const row of rows)
    (row.phase === "execute" ? state.executed : state.compensated)[row.seq as number] = outcomeOf(row, codec);
  // A remaining step may need the password, which was only in the memory of the process that died.
  const isGone = [run.input, run.data, ...rows.map(({ result }) => result)].some((text) => hasGone(text as string));
  if (state.failure === undefined && isGone) {
    const next = definition.steps.find((_, seq) => state.executed[seq]?.status !== "done");
    if (next !== undefined)
      state.failure = {
        failedStep: next.name,
        error: new StepInterruptedError(`Step "${next.name}" needs a password, which is kept nowhere`),
      };
  }
  return state;
}

function outcomeOf(row: Row, codec: Codec): Outcome | undefined {
  switch (row.status) {
    case "done":
      return {
        status: "done",
        result: codec.decode(row.result as string | null),
        memo: codec.decode(row.memo as string | null),
        data: (codec.decode(row.data as string | null) ?? {}) as Record<string, unknown>,
      };
    case "failed":
      return { status: "failed", error: errorOf(row.error as string | null) };
    default:
      // Started but not ended. An execution's outcome is unknown; a compensation is repeated with the same key.
      return row.phase === "execute" ? { status: "unknown" } : undefined;
  }
}
