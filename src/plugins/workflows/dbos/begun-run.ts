import type { SagaState } from "../saga/saga-runtime.ts";
import type { WorkflowResult } from "../workflow-result.ts";

/** A run that began in this process: what only its memory has, and who waits for it. */
export interface BegunRun {
  /** With the passwords that no journal keeps. */
  readonly input: unknown;
  readonly state: SagaState;
  /** What a second run of the same id has to agree with. */
  readonly same: string;
  readonly result: Promise<WorkflowResult>;
  settle(result: WorkflowResult): void;
  fail(error: unknown): void;
}

export function begunRun(input: unknown, state: SagaState, same: string): BegunRun {
  let settle: BegunRun["settle"] = () => {};
  let fail: BegunRun["fail"] = () => {};
  const result = new Promise<WorkflowResult>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  return { input, state, same, result, settle, fail };
}
