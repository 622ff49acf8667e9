import { type ServiceToken, token } from "../../kernel/index.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { RecordUse } from "../operation/shown-records.ts";

/** A started run of an action's workflow. */
export interface ActionRun {
  readonly runId: string;
  /** The result of the last step, masked for the caller; rejects with the error for the caller. */
  result(): Promise<unknown>;
  /** Whether the run is stored, so that it can be queried later. */
  readonly isRemembered: boolean;
}

/** The service `workflows.runner`: workflows of actions. */
export interface WorkflowRunner {
  /**
   * @param action as `entity.action`
   * @param scope the caller's scope
   * @param use the record that the action was allowed to use: a caller who has lost access to it gets no result
   */
  run(
    action: string,
    input: unknown,
    data: Readonly<Record<string, unknown>>,
    scope: OperationScope,
    use?: RecordUse,
  ): Promise<ActionRun>;
}

/** The token of WorkflowRunner. */
export const WorkflowRunner: ServiceToken<WorkflowRunner> = token("workflows.runner");
