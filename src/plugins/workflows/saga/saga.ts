import type { WorkflowDefinition } from "../definition/workflow-definition.ts";
import type { SagaRuntime, SagaState } from "./saga-runtime.ts";

/** A run that is going on: what is to be done, with what, and how far it is. */
export interface Saga {
  readonly definition: WorkflowDefinition;
  readonly runtime: SagaRuntime;
  readonly state: SagaState;
}
