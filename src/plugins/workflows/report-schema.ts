import type { JsonSchema } from "../../entity/index.ts";
import type { WorkflowStatus } from "./definition/workflow.ts";

export const STATUSES: Readonly<Record<WorkflowStatus, true>> = {
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
const ERROR: JsonSchema = Object.freeze({
  type: "object",
  required: ["code", "message"],
  properties: { code: TEXT, message: TEXT },
});
const STATE: JsonSchema = Object.freeze({
  type: "object",
  required: ["status", "attempt", "startedAt", "updatedAt"],
  properties: {
    status: { type: "string", enum: ["started", "done", "failed", "unknown"] },
    attempt: { type: "integer" },
    startedAt: MOMENT,
    updatedAt: MOMENT,
    error: ERROR,
  },
});
const STEP: JsonSchema = Object.freeze({
  type: "object",
  required: ["name"],
  properties: {
    name: TEXT,
    execute: { ...STATE, description: "Absent for a step that has not begun." },
    compensate: { ...STATE, description: "Absent for a step that was not taken back." },
  },
});

/** The JSON schema of a run's report. */
export const REPORT: JsonSchema = Object.freeze({
  type: "object",
  required: ["id", "name", "status", "startedAt", "updatedAt"],
  properties: {
    id: TEXT,
    name: TEXT,
    status: { type: "string", enum: Object.keys(STATUSES) },
    startedAt: MOMENT,
    updatedAt: MOMENT,
    userId: { type: ["string", "null"], description: "In lists for administrators: the user it works for." },
    failedStep: TEXT,
    error: ERROR,
    result: { description: "In the report of one run: what the last step gave, when the run has completed." },
    steps: { type: "array", items: STEP, description: "In the report of one run." },
  },
});
