import { type Step, WithMemo } from "../definition/step.ts";
import { StepTimeoutError, withinTime } from "./attempt.ts";
import { copyOf } from "./copy-of.ts";
import { createStepContext } from "./create-step-context.ts";
import { RunGivenUp } from "./run-given-up.ts";
import type { Outcome, Phase, SagaRuntime, SagaState, StepEnvironment } from "./saga-runtime.ts";

/** What a step may take when it does not say, in milliseconds. */
const STEP_MS = 30_000;
/** What one in a transaction may take at most: less than the transaction itself, so that it is the step that fails. */
export const ATOMIC_MS = 25_000;

/** A step, or its compensation, about to run. */
export interface StepRun {
  readonly step: Step;
  readonly seq: number;
  readonly phase: Phase;
  /** What a compensation takes back. */
  readonly result?: unknown;
  readonly memo?: unknown;
  results(): Readonly<Record<string, unknown>>;
  /** Ends all tries. */
  readonly signal: AbortSignal | undefined;
  /** Called after each try whose outcome is unknown. */
  readonly unknown?: (() => void) | undefined;
  /** The transaction that all of the workflow shares, if there is one. The code that began it writes the journal. */
  readonly within?: StepEnvironment | undefined;
}

/** What a try that succeeded came to. */
export type Done = Extract<Outcome, { readonly status: "done" }>;

/**
 * Runs the code of a step, or of its compensation, once, within its time.
 * @throws what it throws; StepTimeoutError; RunGivenUp when this process no longer holds the run
 */
export async function tryOnce(
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
      // The result of a compensation is not used, so it may be anything.
      const { result: value, memo: kept } = came instanceof WithMemo ? came : { result: came, memo: undefined };
      const done = { status: "done", data: copyOf(context.data) } as const;
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
function anyOf(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((signal) => signal !== undefined);
  return given.length > 1 ? AbortSignal.any(given) : given[0];
}
