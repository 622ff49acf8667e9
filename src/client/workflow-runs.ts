import type { CallOptions } from "./client-options.ts";
import { segmentOf } from "./client-routes.ts";
import { type Answer, expectJson, type Send } from "./create-sender.ts";

/** The API's report of a run, for the user who started it and for administrators. */
export interface WorkflowRun {
  readonly id: string;
  /** Name of the workflow, such as `order.checkout`. */
  readonly name: string;
  readonly status:
    | "pending"
    | "running"
    | "completed"
    | "compensating"
    | "compensated"
    | "compensation_failed"
    | "needs_attention";
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly failedStep?: string;
  readonly error?: { readonly code: string; readonly message: string };
  /** The result of the last step, when the run has completed. */
  readonly result?: unknown;
}

/** Reports of workflows' runs. */
export interface WorkflowRuns {
  get(runId: string, options?: CallOptions): Promise<WorkflowRun>;
}

export function createWorkflowRuns(send: Send): WorkflowRuns {
  return Object.freeze<WorkflowRuns>({
    async get(runId, options) {
      const answer: Answer = await send({ method: "GET", path: `/workflow-runs${segmentOf(runId)}`, options });
      return expectJson(answer) as WorkflowRun;
    },
  });
}
