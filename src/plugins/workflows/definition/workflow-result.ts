/** Where a run stands. */
export type WorkflowStatus =
  /** Recorded; nothing has been done. */
  | "pending"
  | "running"
  | "completed"
  /** A step failed; what was done before is being taken back. */
  | "compensating"
  | "compensated"
  /** Something could not be taken back: `compensationErrors` says what. */
  | "compensation_failed"
  /** Its definition has changed since it was started; it is not continued automatically. */
  | "needs_attention";

/** A compensation that failed for good. */
export interface CompensationFailure {
  readonly step: string;
  readonly error: Error;
}

/** How a run ended. */
export interface WorkflowResult<TData = Record<string, unknown>> {
  readonly success: boolean;
  /** What steps left with `set`, and what the workflow began with. */
  readonly data: TData;
  /** Results of the steps that completed, by name. */
  readonly results: Readonly<Record<string, unknown>>;
  /** What made a step fail. */
  readonly error?: Error | undefined;
  readonly failedStep?: string | undefined;
  /** Steps that were taken back, in the order in which that happened. */
  readonly compensatedSteps: readonly string[];
  readonly compensationErrors: readonly CompensationFailure[];
  readonly status: WorkflowStatus;
  /** Milliseconds. */
  readonly duration: number;
  readonly metadata: { readonly id: string; readonly name: string; readonly startedAt: Date };
}
