import { setTimeout as wait } from "node:timers/promises";
import type { Driver, Row } from "../../../gate/index.ts";
import { EntityNotFoundError } from "../../../kernel/index.ts";
import type { WorkflowDefinition, WorkflowResult, WorkflowStatus } from "../definition/workflow.ts";
import { RunGivenUp } from "../saga/attempt.ts";
import { sagaResult } from "../saga/saga-runtime.ts";
import { loadState, UNFINISHED } from "./database-journal.ts";
import type { Codec } from "./journal-codec.ts";
import { RUN } from "./stored-run.ts";
import type { EngineHost } from "./workflow-engine.ts";

/** The parts of waiting for a run. */
export interface FollowParts {
  readonly host: EngineHost;
  readonly codec: Codec;
  /** The outcome of the run, while it runs in this process. */
  here(): Promise<WorkflowResult> | undefined;
  /** Milliseconds between queries. */
  readonly pollMs: number;
  /** Stops waiting. */
  readonly signal: AbortSignal;
  /** Loads the state of a run. @default from its row and the rows of its steps */
  readonly load?: typeof loadState | undefined;
}

/**
 * Waits for the outcome of a run that another process works on, or worked on.
 * @throws RunGivenUp when this process stops before the run has ended
 */
export async function followRun(
  { host, codec, here, pollMs, signal, load }: FollowParts,
  workflow: WorkflowDefinition,
  runId: string,
): Promise<WorkflowResult> {
  for (;;) {
    // A run that is given up here is resumed by another process.
    const own = await here()?.catch(() => undefined);
    if (own !== undefined) return own;
    const result = await host.runAs("system", async ({ driver }) => {
      const row = await driver.findOne(RUN, { id: runId });
      if (row === null) throw new EntityNotFoundError(`There is no run "${runId}" any more`);
      return storedResult(driver, row, workflow, codec, load);
    });
    if (result !== undefined) return result;
    await wait(pollMs, undefined, { signal, ref: false }).catch((error: unknown) => {
      throw new RunGivenUp(error);
    });
  }
}

/**
 * The stored outcome of a run; undefined while it has not ended.
 * @param load loads the state of the run
 */
async function storedResult(
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
