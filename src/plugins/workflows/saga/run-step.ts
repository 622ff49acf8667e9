import { isKeelsonError } from "../../../entity/index.ts";
import { type RetryOptions, type Step, WithMemo } from "../definition/step.ts";
import {
  isRetryable,
  ResultNotKept,
  RunGivenUp,
  recorded,
  StepTimeoutError,
  withinTime,
  withRetries,
} from "./attempt.ts";
import { copyOf, createStepContext } from "./create-step-context.ts";
import { noteRights } from "./noted-rights.ts";
import type { Outcome, Phase, Rights, SagaPoint, SagaRuntime, SagaState, StepEnvironment } from "./saga-runtime.ts";

const COMPENSATION_RETRY: RetryOptions = { attempts: 5 };

/**
 * Runs a step or its compensation with its retries, and records the outcome.
 * @throws the error of the last try; RunGivenUp when the outcome cannot be recorded, or when the error only means that
 * the app is closing
 */
export async function runStep(runtime: SagaRuntime, state: SagaState, run: StepRun): Promise<Done> {
  const { step, phase, signal } = run;
  const retry = phase === "execute" ? (step.retry ?? {}) : { ...COMPENSATION_RETRY, ...step.compensationRetry };
  const takeBack = step.atomic === true ? state.shown?.mark() : undefined;
  const again = (error: unknown): boolean =>
    !(error instanceof RunGivenUp) && (phase === "compensate" || isRetryable(error));
  try {
    const { tracer } = runtime;
    return await withRetries(retry, signal, again, (attempt) => {
      if (attempt > 1) takeBack?.(); // the attempts before were rolled back
      const work = (): Promise<Done> => runTry(runtime, state, run, attempt);
      return tracer === undefined ? work() : tracer.step({ step: step.name, phase, attempt }, work);
    });
  } catch (error) {
    if (phase === "execute" && !(error instanceof RunGivenUp)) {
      const environment = run.within ?? runtime.environment(rightsOf(run));
      await noteRightsOf(environment, state);
    }
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

/** Runs a step and writes its journal entry in one transaction. */
async function tryInTransaction(runtime: SagaRuntime, state: SagaState, run: StepRun, attempt: number): Promise<Done> {
  let failure: { readonly error: unknown } | undefined;
  let done: Done | undefined;
  try {
    await runtime.transaction(rightsOf(run), async (environment) => {
      failure = undefined; // the driver may have rolled back and retried
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
    // It is unknown whether the result was stored. The journal tells the process that resumes the run.
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

/** Default time limit of a step, in milliseconds. */
const STEP_MS = 30_000;
/** Longest time limit of a step in a transaction: shorter than the transaction's, so that the step fails first. */
export const ATOMIC_MS = 25_000;

/** One run of a step or its compensation. */
interface StepRun {
  readonly step: Step;
  readonly seq: number;
  readonly phase: Phase;
  /** The result of the step that a compensation undoes. */
  readonly result?: unknown;
  readonly memo?: unknown;
  results(): Readonly<Record<string, unknown>>;
  /** Ends all tries. */
  readonly signal: AbortSignal | undefined;
  /** Called after each try whose outcome is unknown. */
  readonly unknown?: (() => void) | undefined;
  /** The transaction that the whole workflow shares, if any. The code that began it writes the journal. */
  readonly within?: StepEnvironment | undefined;
}

/** The outcome of a successful try. */
type Done = Extract<Outcome, { readonly status: "done" }>;

/**
 * Runs the code of a step or its compensation once, within its time limit.
 * @throws any error that the code throws; StepTimeoutError; RunGivenUp when this process no longer holds the run
 */
async function tryOnce(
  runtime: SagaRuntime,
  state: SagaState,
  { step, seq, phase, result, memo, results, signal, unknown }: StepRun,
  attempt: number,
  environment: StepEnvironment,
): Promise<Done> {
  const what = phase === "execute" ? `Step "${step.name}"` : `The compensation of step "${step.name}"`;
  const given = anyOf(signal, runtime.lost);
  const over = new AbortController();
  const limit = Math.min(step.timeout ?? STEP_MS, step.atomic === true ? ATOMIC_MS : Number.POSITIVE_INFINITY);
  try {
    return await withinTime(limit, given, what, async (inner) => {
      const about = { seq, phase, attempt, signal: inner, results, over: over.signal };
      const context = createStepContext(runtime, state, environment, about);
      const came = await (phase === "execute" ? step.execute(context) : step.compensate?.(context, result, memo));
      if (phase === "execute") await noteRightsOf(environment, state);
      // The result of a compensation is not used, so it may have any type.
      const { result: value, memo: kept } = came instanceof WithMemo ? came : { result: came, memo: undefined };
      const done = { status: "done", data: copyOf(context.data), shown: state.shown } as const;
      return phase === "execute" ? { ...done, result: value, memo: kept } : { ...done, result: undefined };
    });
  } catch (error) {
    if (runtime.lost?.aborted === true) throw new RunGivenUp(error);
    if (error instanceof StepTimeoutError) unknown?.();
    throw error;
  } finally {
    over.abort();
  }
}

/**
 * Notes the rights with which the steps have read until now, for a request that attaches to the run. Rights that cannot be
 * noted count as lost: the step itself has not failed.
 */
async function noteRightsOf({ scope }: StepEnvironment, { shown }: SagaState): Promise<void> {
  if (scope === undefined || scope.principal.kind === "system" || shown === undefined) return;
  await noteRights(scope, shown).catch(() => {
    shown.isKnown = false;
  });
}

function anyOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((signal) => signal !== undefined);
  return given.length > 1 ? AbortSignal.any(given) : given[0];
}
