import { StepTimeoutError } from "./attempt.ts";
import { recorded } from "./recorded.ts";
import { RunGivenUp } from "./run-given-up.ts";
import { runStep } from "./run-step.ts";
import type { Saga } from "./saga.ts";
import { resultsOf } from "./saga-result.ts";
import type { Outcome, StepEnvironment } from "./saga-runtime.ts";
import { StepInterruptedError } from "./step-interrupted-error.ts";
import { tellHooks } from "./tell-hooks.ts";
import { toError } from "./to-error.ts";

/** What a step runs within. */
export interface StepBounds {
  /** Aborted when the steps have to be done. */
  readonly signal: AbortSignal | undefined;
  /** The transaction that all of the workflow shares, if there is one. */
  readonly within?: StepEnvironment | undefined;
}

/**
 * Executes a step, unless it is known what came of it, and notes in the state what did.
 * @returns whether the run can go on
 * @throws RunGivenUp when the journal cannot be written
 */
export async function executeStep(saga: Saga, seq: number, { signal, within }: StepBounds): Promise<boolean> {
  const { definition, runtime, state } = saga;
  const step = definition.steps[seq] as (typeof definition.steps)[number];
  const known = state.executed[seq];
  if (known?.status === "done") return true;
  if (known?.status === "failed") {
    state.failure = { failedStep: step.name, error: known.error };
    return false;
  }
  if (known?.status === "unknown" && step.atomic !== true && step.idempotent !== true) {
    interrupt(saga, seq);
    return false;
  }
  if (signal?.aborted === true) {
    // It is not begun, so there is nothing of it to take back; unless it was before the process died.
    state.failure = { failedStep: step.name, error: new StepTimeoutError(`No time was left for step "${step.name}"`) };
    return false;
  }
  const hooksUntil = within && signal; // a transaction does not stay open for a hook
  // Also when a later try says what came of it: one that ran out of time, or whose process died, may have done something.
  let isUnknown = known !== undefined;
  const unknown = (): void => {
    isUnknown = true;
  };
  try {
    const results = (): ReturnType<typeof resultsOf> => resultsOf(definition, state);
    const done = await runStep(runtime, state, { step, seq, phase: "execute", results, signal, within, unknown });
    state.executed[seq] = done;
    await tellHooks(saga, (hooks, observer) => hooks.onStepComplete?.(step.name, done.result, observer()), hooksUntil);
    return true;
  } catch (thrown) {
    if (thrown instanceof RunGivenUp) throw thrown;
    const error = toError(thrown);
    const isRolledBack = step.atomic === true && within === undefined;
    const outcome: Outcome = isUnknown && !isRolledBack ? { status: "unknown" } : { status: "failed", error };
    state.executed[seq] = outcome;
    state.failure = { failedStep: step.name, error };
    if (within === undefined) await recorded(runtime.journal.finished(seq, "execute", outcome, undefined));
    await tellHooks(saga, (hooks, observer) => hooks.onStepFailed?.(step.name, error, observer()), hooksUntil);
    return false;
  }
}

/** Gives up on a step that a process died in: it is not known what it did, and it must not run twice. */
export function interrupt({ definition, state }: Saga, seq: number): void {
  const name = definition.steps[seq]?.name as string;
  state.failure = { failedStep: name, error: new StepInterruptedError(`Step "${name}" was interrupted`) };
}
