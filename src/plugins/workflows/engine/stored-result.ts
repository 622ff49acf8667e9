import type { Driver, Row } from "../../../kernel/index.ts";
import { sagaResult } from "../saga/saga-result.ts";
import type { WorkflowDefinition } from "../workflow-definition.ts";
import type { WorkflowResult, WorkflowStatus } from "../workflow-result.ts";
import type { Codec } from "./codec.ts";
import { loadState, UNFINISHED } from "./stored-run.ts";

/**
 * How a run ended, as its journal has it; undefined while it has not.
 * @param load reads what is known of it
 */
export async function storedResult(
  driver: Driver,
  row: Row,
  definition: WorkflowDefinition,
  codec: Codec,
  load: typeof loadState = loadState,
): Promise<WorkflowResult | undefined> {
  const status = row.status as WorkflowStatus;
  if (UNFINISHED.includes(status)) return undefined;
  const state = await load(driver, row, definition, codec);
  const times = { runId: row.id as string, startedAt: row.startedAt as Date, endedAt: row.updatedAt as Date };
  return sagaResult(definition, state, status, times);
}
