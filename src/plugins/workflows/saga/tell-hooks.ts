import { describeError, isPromiseLike, withDeadline } from "../../../kernel/index.ts";
import type { StepContext } from "../definition/step-context.ts";
import type { WorkflowHooks } from "../definition/workflow-definition.ts";
import { createStepContext } from "./create-step-context.ts";
import type { Saga } from "./saga.ts";
import { resultsOf } from "./saga-result.ts";

/** Milliseconds for a hook where no app says how long one may take. */
const HOOK_MS = 5_000;

/**
 * Calls the hooks of a workflow with where its run is. A run that is taken up repeats some of these calls. Errors of
 * hooks are logged and change nothing. A hook that does not return is waited for as long as hooks of the app are.
 * @param until aborted when the run is no longer waited for
 */
export async function tellHooks(
  saga: Saga,
  call: (hooks: WorkflowHooks, observer: () => StepContext) => unknown,
  until?: AbortSignal | undefined,
): Promise<void> {
  const { definition, runtime } = saga;
  const { lost, hookMs = HOOK_MS } = runtime;
  try {
    const told = call(definition.hooks, () => observerOf(saga));
    if (!isPromiseLike(told)) return;
    await unlessAborted([lost, until], withDeadline(told, hookMs, "It"));
  } catch (error) {
    const { runId, log } = runtime;
    log.error("A hook of a workflow failed", { runId, workflow: definition.name, ...describeError(error) });
  }
}

/** Waits for something until one of the signals is aborted. */
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

/** What hooks are given: they look, and do nothing in the database of the run. */
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
