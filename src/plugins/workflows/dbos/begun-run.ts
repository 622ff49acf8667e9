import type { WorkflowResult } from "../definition/workflow-result.ts";
import type { Codec } from "../engine/journal-codec.ts";
import type { SameRun } from "../engine/same-run.ts";
import type { Caller } from "../engine/workflow-engine.ts";
import type { SagaState } from "../saga/saga-runtime.ts";

/** A run that began in this process: what only its memory has, and who waits for it. */
export interface BegunRun {
  /** With the passwords that no journal keeps. */
  readonly input: unknown;
  readonly caller: Caller;
  /** Knows the passwords that must not be written. */
  readonly codec: Codec;
  readonly state: SagaState;
  /** What a second run of the same id has to agree with. */
  readonly same: SameRun;
  readonly result: Promise<WorkflowResult>;
  settle(result: WorkflowResult): void;
  fail(error: unknown): void;
}

export function begunRun(given: Pick<BegunRun, "input" | "caller" | "codec" | "state" | "same">): BegunRun {
  let settle: BegunRun["settle"] = () => {};
  let fail: BegunRun["fail"] = () => {};
  const result = new Promise<WorkflowResult>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  return { ...given, result, settle, fail };
}
