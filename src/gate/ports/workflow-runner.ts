import type { RecordUse } from "../operation/mask.ts";
import type { OperationScope } from "../operation/operation-scope.ts";

/** A run of an action's workflow that has begun. */
export interface ActionRun {
  readonly runId: string;
  /** What the last step gives, as the caller may read it; rejects with what they are to be told. */
  result(): Promise<unknown>;
  /** Whether something remembers the run, so that it can be asked about later. */
  readonly isRemembered: boolean;
}

/** The service `workflows.runner`: workflows of actions. */
export interface WorkflowRunner {
  /**
   * @param action as `entity.action`
   * @param scope on whose caller's behalf
   * @param use what the action was allowed for: who may not use it any more is told no result
   */
  run(
    action: string,
    input: unknown,
    data: Readonly<Record<string, unknown>>,
    scope: OperationScope,
    use?: RecordUse,
  ): Promise<ActionRun>;
}
