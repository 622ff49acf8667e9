import { type RetryOptions, type Step, WithMemo } from "../step.ts";
import { isRetryable, withinTime, withRetries } from "./attempt.ts";
import { createStepContext } from "./create-step-context.ts";
import { ResultNotKept } from "./result-not-kept.ts";
import { RunGivenUp } from "./run-given-up.ts";
import type { Outcome, Phase, Rights, SagaRuntime, SagaState, StepEnvironment } from "./saga-runtime.ts";

/** What a step may take when it does not say, in milliseconds. */
const STEP_MS = 30_000;
const COMPENSATION_RETRY: RetryOptions = { attempts: 5 };

/** A step, or its compensation, about to run. */
export interface StepRun {
  readonly step: Step;
  readonly seq: number;
  readonly phase: Phase;
  /** What a compensation takes back. */
  readonly result?: unknown;
  readonly memo?: unknown;
  readonly results: Readonly<Record<string, unknown>>;
  /** Ends all tries. */
  readonly signal: AbortSignal | undefined;
  /** The transaction that all of the workflow shares, if there is one: the journal is written by whoever began it. */
  readonly within?: StepEnvironment | undefined;
}

/**
 * Runs a step, or its compensation, with its retries, and records what came of it.
 * @throws what its last try threw; RunGivenUp when what came of it cannot be recorded
 */
export async function runStep(runtime: SagaRuntime, state: SagaState, run: StepRun): Promise<Done> {
  const { step, phase, signal } = run;
  const retry = phase === "execute" ? (step.retry ?? {}) : { ...COMPENSATION_RETRY, ...step.compensationRetry };
  const again = (error: unknown): boolean =>
    !(error instanceof RunGivenUp) && (phase === "compensate" || isRetryable(error));
  return withRetries(retry, signal, again, (attempt) => runTry(runtime, state, run, attempt));
}

async function runTry(runtime: SagaRuntime, state: SagaState, run: StepRun, attempt: number): Promise<Done> {
  const { step, seq, phase, within } = run;
  const { journal } = runtime;
  const isAtomic = step.atomic === true && within === undefined;
  if (within === undefined) {
    await reached(runtime, "before-start", run);
    await safely(journal.started(seq, phase, attempt));
    await reached(runtime, "started", run);
  }
  const outcome = isAtomic
    ? await tryInTransaction(runtime, state, run, attempt)
    : await tryOnce(runtime, state, run, attempt, within ?? runtime.environment(rightsOf(run)));
  if (within === undefined && !isAtomic) {
    await reached(runtime, "after-effect", run);
    await safely(journal.finished(seq, phase, outcome, undefined));
    await reached(runtime, "after-commit", run);
  }
  if (within !== undefined) await safely(journal.finished(seq, phase, outcome, within));
  state.data = { ...outcome.data };
  return outcome;
}

function rightsOf({ step, phase }: StepRun): Rights {
  return phase === "compensate" || step.asSystem === true ? "system" : "caller";
}

type Done = Extract<Outcome, { readonly status: "done" }>;

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
    // Whether it was stored is for the journal to say, to whoever takes the run up.
    throw runtime.isDurable ? new RunGivenUp(error) : error;
  }
  await reached(runtime, "after-commit", run);
  return done as unknown as Done;
}

async function tryOnce(
  runtime: SagaRuntime,
  state: SagaState,
  { step, seq, phase, result, memo, results, signal }: StepRun,
  attempt: number,
  environment: StepEnvironment,
): Promise<Done> {
  const what = phase === "execute" ? `Step "${step.name}"` : `The compensation of step "${step.name}"`;
  let hasEnded = false;
  try {
    return await withinTime(step.timeout ?? STEP_MS, anyOf(signal, runtime.lost), what, async (inner) => {
      const about = { seq, phase, attempt, signal: inner, results, hasEnded: () => hasEnded };
      const context = createStepContext(runtime, state, environment, about);
      const given = phase === "execute" ? step.execute(context) : step.compensate?.(context, result, memo);
      const came = await given;
      const { result: value, memo: kept } = came instanceof WithMemo ? came : { result: came, memo: undefined };
      return { status: "done" as const, result: value, data: context.data, memo: kept };
    });
  } catch (error) {
    throw runtime.lost?.aborted === true ? new RunGivenUp(error) : error;
  } finally {
    hasEnded = true;
  }
}

function anyOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((signal) => signal !== undefined);
  return given.length > 1 ? AbortSignal.any(given) : given[0];
}

async function safely(recorded: Promise<void>): Promise<void> {
  try {
    await recorded;
  } catch (error) {
    throw error instanceof ResultNotKept ? error : new RunGivenUp(error);
  }
}

async function reached(
  { reached: tell }: SagaRuntime,
  point: Parameters<NonNullable<SagaRuntime["reached"]>>[0],
  { step, phase }: StepRun,
): Promise<void> {
  if (tell !== undefined) await tell(point, phase, step.name);
}
