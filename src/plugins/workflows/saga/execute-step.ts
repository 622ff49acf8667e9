import { describeError, isPromiseLike, withDeadline } from "../../../kernel/index.ts";
import type { StepContext } from "../definition/step.ts";
import type { WorkflowHooks } from "../definition/workflow.ts";
import { RunGivenUp, recorded, StepInterruptedError, StepTimeoutError, toError } from "./attempt.ts";
import { createStepContext } from "./create-step-context.ts";
import { runStep } from "./run-step.ts";
import { type Outcome, resultsOf, type Saga, type StepEnvironment } from "./saga-runtime.ts";

/** The limits of a step. */
export interface StepBounds {
  /** Aborted when the time for all steps is up. */
  readonly signal: AbortSignal | undefined;
  /** The transaction that the whole workflow shares, if any. */
  readonly within?: StepEnvironment | undefined;
}

/**
 * Executes a step, unless its outcome is already known, and notes the outcome in the state.
 * @returns whether the run can continue
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
    // The step has not begun, so it needs no compensation, unless it began before its process died.
    state.failure = { failedStep: step.name, error: new StepTimeoutError(`No time was left for step "${step.name}"`) };
    return false;
  }
  const hooksUntil = within && signal; // a transaction does not stay open for a hook
  // Stays true even if a later try fails cleanly: a try that timed out, or whose process died, may have had an effect.
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
    const outcome: Outcome =
      isUnknown && !isRolledBack ? { status: "unknown" } : { status: "failed", error, shown: state.shown };
    state.executed[seq] = outcome;
    state.failure = { failedStep: step.name, error };
    if (within === undefined) await recorded(runtime.journal.finished(seq, "execute", outcome, undefined));
    await tellHooks(saga, (hooks, observer) => hooks.onStepFailed?.(step.name, error, observer()), hooksUntil);
    return false;
  }
}

/** Fails a step whose process died: its outcome is unknown, and it must not run twice. */
export function interrupt({ definition, state }: Saga, seq: number): void {
  const name = definition.steps[seq]?.name as string;
  state.failure = { failedStep: name, error: new StepInterruptedError(`Step "${name}" was interrupted`) };
}

/** Time limit of a hook in milliseconds, where no app sets one. */
const HOOK_MS = 5_000;

/**
 * Calls the hooks of a workflow. A resumed run repeats some of these calls. Errors of hooks are logged and change
 * nothing. Hooks have the same time limit as the app's hooks.
 * @param until aborted when the hook is no longer waited for
 */
export async function tellHooks(
  saga: Saga,
  call: (hooks: WorkflowHooks, observer: () => StepContext) => unknown,
  until?: AbortSignal | undefined,
): Promise<void> {
  const { definition, runtime } = saga;
  const { lost, hookMs = HOOK_MS } = runtime;
  try {
    const called = call(definition.hooks, () => observerOf(saga));
    if (!isPromiseLike(called)) return;
    await unlessAborted([lost, until], withDeadline(called, hookMs, "It"));
  } catch (error) {
    const { runId, log } = runtime;
    log.error("A hook of a workflow failed", { runId, workflow: definition.name, ...describeError(error) });
  }
}

/** Waits for work until one of the signals is aborted. */
async function unlessAborted(signals: readonly (AbortSignal | undefined)[], work: Promise<unknown>): Promise<void> {
  const given = signals.filter((signal) => signal !== undefined);
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  for (const signal of given) {
    if (signal.aborted) end();
    signal.addEventListener("abort", end);
  }
  try {
    await Promise.race([work, ended]);
  } finally {
    for (const signal of given) signal.removeEventListener("abort", end);
    work.catch(() => {});
  }
}

/** The context of hooks. They observe the run, and write nothing in its transaction. */
function observerOf({ definition, runtime, state }: Saga): StepContext {
  const { signal } = new AbortController();
  const about = {
    seq: 0,
    phase: "execute",
    attempt: 1,
    results: () => resultsOf(definition, state),
    over: signal,
  } as const;
  return createStepContext(runtime, state, runtime.environment("caller"), {
    ...about,
    signal: runtime.signal ?? signal,
  });
}
