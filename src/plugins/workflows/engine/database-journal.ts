import type { Driver, OperationScope, Row } from "../../../gate/index.ts";
import { ConflictError } from "../../../kernel/index.ts";
import { RunGivenUp } from "../saga/run-given-up.ts";
import type { Journal, Outcome, Phase } from "../saga/saga-runtime.ts";
import type { Codec } from "./journal-codec.ts";
import { RUN, STEP } from "./journal-entities.ts";
import { errorText } from "./stored-error.ts";

/** The hold that this process has on a run. */
export interface Lease {
  readonly runId: string;
  readonly owner: string;
  readonly fence: number;
  /** Milliseconds a hold lasts. */
  readonly leaseMs: number;
  /** When it was last known to be there, by `performance.now()`. */
  confirmedAt?: number;
}

/**
 * A journal in the app's database. Each entry shares a transaction with a statement that checks that this process still
 * holds the run. A process that was paused past its lease and has lost the run writes nothing (fencing).
 * @param settle what else to change of a run that has completed
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
    const leaseUntil = new Date(system.now().getTime() + lease.leaseMs);
    if ((await driver.updateMany(RUN, where, { ...change, leaseUntil })) !== 1)
      throw new RunGivenUp(new ConflictError(`Another process has taken over the run ${runId}`));
    lease.confirmedAt = asked;
  }

  async function write(driver: Driver, seq: number, phase: Phase, entry: Row): Promise<void> {
    const id = `${runId}:${seq}:${phase}`;
    const now = system.now();
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
      const failed = failure === undefined ? {} : { failedStep: failure.failedStep, error: errorText(failure.error) };
      await within((driver) => hold(driver, { status, updatedAt: system.now(), ...failed, ...settled }));
    },
  };
}

/** The outcome of a step, as text. @throws ResultNotKept for a result that cannot be written down */
export function entryOf(outcome: Outcome, codec: Codec): Row {
  switch (outcome.status) {
    case "done":
      return {
        status: "done",
        result: codec.encode(outcome.result),
        memo: codec.encode(outcome.memo),
        data: codec.encode(outcome.data),
      };
    case "failed":
      return { status: "failed", error: errorText(outcome.error) };
    default:
      return { status: "unknown" };
  }
}
