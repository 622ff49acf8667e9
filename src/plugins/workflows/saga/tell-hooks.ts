import { describeError } from "../../../kernel/index.ts";
import type { StepContext } from "../step-context.ts";
import type { WorkflowHooks } from "../workflow-definition.ts";
import { createStepContext } from "./create-step-context.ts";
import type { Saga } from "./saga.ts";
import { resultsOf } from "./saga-result.ts";

/**
 * Tells the hooks of a workflow where its run is. A run that is taken up tells some of it again. What hooks throw is logged
 * and changes nothing.
 */
export async function tellHooks(
  saga: Saga,
  call: (hooks: WorkflowHooks, observer: StepContext) => unknown,
): Promise<void> {
  const { definition, runtime } = saga;
  try {
    await call(definition.hooks, observerOf(saga));
  } catch (error) {
    const { runId, log } = runtime;
    log.error("A hook of a workflow failed", { runId, workflow: definition.name, ...describeError(error) });
  }
}

/** What hooks are given: they look, and do nothing in the database of the run. */
function observerOf({ definition, runtime, state }: Saga): StepContext {
  const { signal } = new AbortController();
  const about = { seq: 0, phase: "execute", attempt: 1, results: resultsOf(definition, state), over: signal } as const;
  return createStepContext(runtime, state, runtime.environment("caller"), {
    ...about,
    signal: runtime.signal ?? signal,
  });
}
