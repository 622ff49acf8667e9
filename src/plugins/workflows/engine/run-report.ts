import type { Row } from "../../../gate/index.ts";
import type { WorkflowStatus } from "../definition/workflow-result.ts";
import { keptUse } from "./run-use.ts";
import { publicError } from "./stored-error.ts";
import type { RunReport } from "./workflow-engine.ts";

interface StoredRun {
  readonly id: string;
  readonly name: string;
  readonly status: WorkflowStatus;
  readonly startedAt: Date;
  readonly updatedAt: Date;
  readonly userId: string | null;
  readonly failedStep: string | null;
  readonly error: string | null;
}

/** What may be told of a run in a journal. */
export function runReport(row: Row): RunReport {
  const { id, name, status, startedAt, updatedAt, userId, failedStep, error } = row as unknown as StoredRun;
  const failure = failedStep === null ? {} : { failedStep, error: publicError(error) };
  return { id, name, status, startedAt, updatedAt, userId, use: keptUse(row.caller), ...failure };
}
