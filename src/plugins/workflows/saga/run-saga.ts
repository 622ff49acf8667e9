import type { WorkflowDefinition } from "../workflow-definition.ts";
import type { WorkflowResult, WorkflowStatus } from "../workflow-result.ts";
import { compensateSteps } from "./compensate-steps.ts";
import { executeEach } from "./execute-each.ts";
import { executeTogether } from "./execute-together.ts";
import { recorded } from "./recorded.ts";
import type { Saga } from "./saga.ts";
import { sagaResult } from "./saga-result.ts";
import { nowOf, type SagaRuntime, type SagaState } from "./saga-runtime.ts";
import { tellHooks } from "./tell-hooks.ts";

/**
 * Runs a workflow from where its state says it is: the steps in order, and when one fails, the compensations of those before
 * it in reverse order, all of them, whatever becomes of each (public-api.md, "Workflows").
 * @returns how it ended; a step that failed is no exception
 * @throws RunGivenUp when the journal cannot be written
 */
export async function runSaga(
  definition: WorkflowDefinition,
  runtime: SagaRuntime,
  state: SagaState,
): Promise<WorkflowResult> {
  const saga: Saga = { definition, runtime, state };
  if (state.failure === undefined) {
    await recorded(runtime.journal.moved("running"));
    await tellHooks(saga, (hooks, observer) => hooks.onStart?.(observer()));
    await (definition.transactional ? executeTogether(saga) : executeEach(saga));
  }
  if (state.failure === undefined) {
    await recorded(runtime.journal.moved("completed"));
    const result = resultOf(saga, "completed");
    await tellHooks(saga, (hooks) => hooks.onComplete?.(result));
    return result;
  }
  await recorded(runtime.journal.moved("compensating", state.failure));
  const isTakenBack = await compensateSteps(saga);
  const status = isTakenBack ? "compensated" : "compensation_failed";
  await recorded(runtime.journal.moved(status, state.failure));
  const result = resultOf(saga, status);
  await tellHooks(saga, (hooks) => hooks.onFailed?.(result));
  return result;
}

function resultOf({ definition, runtime, state }: Saga, status: WorkflowStatus): WorkflowResult {
  const { runId, startedAt } = runtime;
  return sagaResult(definition, state, status, { runId, startedAt, endedAt: nowOf(runtime) });
}
