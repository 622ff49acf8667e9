import type { CallOptions } from "./client-options.ts";
import { segmentOf } from "./client-routes.ts";
import { type Answer, expectJson, type Send } from "./create-sender.ts";
import { serializeListQuery } from "./serialize-list-query.ts";

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
  /** Its steps in order, if the engine reports them. */
  readonly steps?: readonly WorkflowRunStep[];
}

/** A step of a run. `execute` is absent if it has not begun, `compensate` if it was not compensated. */
export interface WorkflowRunStep {
  readonly name: string;
  readonly execute?: WorkflowRunStepState;
  readonly compensate?: WorkflowRunStepState;
}

interface WorkflowRunStepState {
  readonly status: "started" | "done" | "failed" | "unknown";
  readonly attempt: number;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** A run in the list. */
export interface ListedWorkflowRun extends Omit<WorkflowRun, "result" | "steps"> {
  /** The id of the user who the run belongs to, null for other callers; for administrators only. */
  readonly userId?: string | null;
}

/** Filters and pages the list. @default all runs that the caller may see */
export interface WorkflowRunQuery {
  readonly status?: WorkflowRun["status"];
  /** Name of the workflow, such as `order.checkout`. */
  readonly name?: string;
  /** Number of runs per page. @default the server's `limits.pageSize` */
  readonly limit?: number;
  /** The `nextCursor` of the previous page. */
  readonly after?: string | undefined;
}

/** Reports of workflow runs. */
export interface WorkflowRuns {
  /** The caller's own runs, or all runs for administrators; newest first. */
  list(
    query?: WorkflowRunQuery,
    options?: CallOptions,
  ): Promise<{ readonly data: readonly ListedWorkflowRun[]; readonly nextCursor: string | null }>;
  get(runId: string, options?: CallOptions): Promise<WorkflowRun>;
}

export function createWorkflowRuns(send: Send): WorkflowRuns {
  return Object.freeze<WorkflowRuns>({
    async list({ limit, after, ...where } = {}, options) {
      const search = serializeListQuery({ where, limit, after });
      const answer = await send({ method: "GET", path: "/workflow-runs", search, options });
      const data = expectJson(answer) as readonly ListedWorkflowRun[];
      return { data, nextCursor: answer.headers.get("x-next-cursor") };
    },
    async get(runId, options) {
      const answer: Answer = await send({ method: "GET", path: `/workflow-runs${segmentOf(runId)}`, options });
      return expectJson(answer) as WorkflowRun;
    },
  });
}
