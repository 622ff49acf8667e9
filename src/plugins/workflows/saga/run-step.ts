import { isKeelsonError } from "../../../entity/index.ts";
import type { RetryOptions } from "../definition/step.ts";
import { isRetryable, withRetries } from "./attempt.ts";
import { recorded } from "./recorded.ts";
import { ResultNotKept } from "./result-not-kept.ts";
import { RunGivenUp } from "./run-given-up.ts";
import type { Rights, SagaPoint, SagaRuntime, SagaState } from "./saga-runtime.ts";
import { type Done, type StepRun, tryOnce } from "./try-once.ts";

const COMPENSATION_RETRY: RetryOptions = { attempts: 5 };

/**
 * Runs a step, or its compensation, with its retries, and records what came of it.
 * @throws what its last try threw; RunGivenUp when what came of it cannot be recorded, or says nothing because the app is
 *   closing
 */
export async function runStep(runtime: SagaRuntime, state: SagaState, run: StepRun): Promise<Done> {
  const { step, phase, signal } = run;
  const retry = phase === "execute" ? (step.retry ?? {}) : { ...COMPENSATION_RETRY, ...step.compensationRetry };
  const again = (error: unknown): boolean =>
    !(error instanceof RunGivenUp) && (phase === "compensate" || isRetryable(error));
  try {
    const { tracer } = runtime;
    return await withRetries(retry, signal, again, (attempt) => {
      const work = (): Promise<Done> => runTry(runtime, state, run, attempt);
      return tracer === undefined ? work() : tracer.step({ step: step.name, phase, attempt }, work);
    });
  } catch (error) {
    const isAway = isKeelsonError(error) && error.code === "UNAVAILABLE" && !(error instanceof RunGivenUp);
    throw isAway && (await runtime.isClosing?.()) === true ? new RunGivenUp(error) : error;
  }
}

async function runTry(runtime: SagaRuntime, state: SagaState, run: StepRun, attempt: number): Promise<Done> {
  const { step, seq, phase, within } = run;
  const { journal } = runtime;
  const isAtomic = step.atomic === true && within === undefined;
  if (within === undefined) {
    await reached(runtime, "before-start", run);
    await recorded(journal.started(seq, phase, attempt));
    await reached(runtime, "started", run);
  }
  const outcome = isAtomic
    ? await tryInTransaction(runtime, state, run, attempt)
    : await tryOnce(runtime, state, run, attempt, within ?? runtime.environment(rightsOf(run)));
  if (within === undefined && !isAtomic) {
    await reached(runtime, "after-effect", run);
    await noted(run, journal.finished(seq, phase, outcome, undefined));
    await reached(runtime, "after-commit", run);
  }
  if (within !== undefined) await noted(run, journal.finished(seq, phase, outcome, within));
  state.data = { ...outcome.data };
  return outcome;
}

function rightsOf({ step, phase }: StepRun): Rights {
  return phase === "compensate" || step.asSystem === true ? "system" : "caller";
}

/** What the step did and that it did it are one transaction. */
async function tryInTransaction(runtime: SagaRuntime, state: SagaState, run: StepRun, attempt: number): Promise<Done> {
  let failure: { readonly error: unknown } | undefined;
  let done: Done | undefined;
  try {
    await runtime.transaction(rightsOf(run), async (environment) => {
      failure = undefined; // the driver may have rolled back and tried again
      try {
        done = await tryOnce(runtime, state, run, attempt, environment);
      } catch (error) {
        failure = { error };
        throw error;
      }
      await reached(runtime, "after-effect", run);
      await runtime.journal.finished(run.seq, run.phase, done, environment);
    });
  } catch (error) {
    if (failure !== undefined) throw failure.error;
    if (error instanceof ResultNotKept) throw error;
    // It is unknown whether the result was stored; the journal tells the process that takes the run up.
    throw runtime.isDurable ? new RunGivenUp(error) : error;
  }
  await reached(runtime, "after-commit", run);
  return done as unknown as Done;
}

async function noted({ unknown }: StepRun, entry: Promise<void>): Promise<void> {
  try {
    await recorded(entry);
  } catch (error) {
    if (error instanceof ResultNotKept) unknown?.();
    throw error;
  }
}

async function reached(
  { reached: tell, runId }: SagaRuntime,
  point: SagaPoint,
  { step, phase }: StepRun,
): Promise<void> {
  if (tell !== undefined) await tell(point, phase, step.name, runId);
}
