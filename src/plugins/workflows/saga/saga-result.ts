import type { WorkflowDefinition } from "../definition/workflow-definition.ts";
import type { CompensationFailure, WorkflowResult, WorkflowStatus } from "../definition/workflow-result.ts";
import type { SagaState } from "./saga-runtime.ts";

/** What the steps that are done gave, by name. */
export function resultsOf({ steps }: WorkflowDefinition, { executed }: SagaState): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    steps.flatMap(({ name }, seq) => {
      const outcome = executed[seq];
      return outcome?.status === "done" ? [[name, outcome.result] as const] : [];
    }),
  );
}

/** What came of the compensations, in the order in which they ran. */
export interface TakenBack {
  readonly compensatedSteps: readonly string[];
  readonly compensationErrors: readonly CompensationFailure[];
}

export function takenBack({ steps }: WorkflowDefinition, { compensated }: SagaState): TakenBack {
  const compensatedSteps: string[] = [];
  const compensationErrors: CompensationFailure[] = [];
  for (const [seq, { name }] of [...steps.entries()].reverse()) {
    const outcome = compensated[seq];
    if (outcome?.status === "done") compensatedSteps.push(name);
    else if (outcome?.status === "failed") compensationErrors.push({ step: name, error: outcome.error });
  }
  return { compensatedSteps, compensationErrors };
}

/** Which run, and when. */
export interface RunTimes {
  readonly runId: string;
  readonly startedAt: Date;
  readonly endedAt: Date;
}

/** How a run ended, in the form that callers receive. */
export function sagaResult(
  definition: WorkflowDefinition,
  state: SagaState,
  status: WorkflowStatus,
  { runId, startedAt, endedAt }: RunTimes,
): WorkflowResult {
  return {
    success: status === "completed",
    data: state.data,
    results: resultsOf(definition, state),
    ...(state.failure ?? {}),
    ...takenBack(definition, state),
    status,
    duration: endedAt.getTime() - startedAt.getTime(),
    metadata: { id: runId, name: definition.name, startedAt },
  };
}
