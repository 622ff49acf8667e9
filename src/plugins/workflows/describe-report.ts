import type { JsonSchema } from "../../entity/index.ts";
import type { RouteDescription } from "../../kernel/index.ts";
import type { WorkflowStatus } from "./workflow-result.ts";

const STATUSES: Readonly<Record<WorkflowStatus, true>> = {
  pending: true,
  running: true,
  completed: true,
  compensating: true,
  compensated: true,
  compensation_failed: true,
  needs_attention: true,
};

const TEXT: JsonSchema = Object.freeze({ type: "string" });
const MOMENT: JsonSchema = Object.freeze({ type: "string", format: "date-time" });
const REPORT: JsonSchema = Object.freeze({
  type: "object",
  required: ["id", "name", "status", "startedAt", "updatedAt"],
  properties: {
    id: TEXT,
    name: TEXT,
    status: { type: "string", enum: Object.keys(STATUSES) },
    startedAt: MOMENT,
    updatedAt: MOMENT,
    failedStep: TEXT,
    error: { type: "object", required: ["code", "message"], properties: { code: TEXT, message: TEXT } },
    result: { description: "What the last step gave, when the run has completed." },
  },
});

/** What documentation says about the report of a run. */
export function describeReport(): RouteDescription {
  return {
    operationId: "readWorkflowRun",
    answers: { 200: { description: "How far the run has come.", content: { "application/json": REPORT } } },
    errors: [404],
  };
}
