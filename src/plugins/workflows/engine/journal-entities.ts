import { type AnyEntity, datetime, entity, int, string, text } from "../../../entity/index.ts";

/** Names of the entities that a journal is kept in. */
export const RUN = "workflowRun";
export const STEP = "workflowStep";

/**
 * The two entities of a journal: runs, and what is known of their steps. Only the engine reads and writes them.
 * @param encrypted whether the app's keys encrypt the data of runs
 */
export function journalEntities(encrypted: boolean): readonly AnyEntity[] {
  const carried = encrypted ? text.optional().encrypted() : text.optional();
  const run = entity(RUN, {
    name: string,
    definition: string.describe("Hash of the names and the order of its steps"),
    status: string,
    caller: carried,
    userId: string.optional(),
    input: carried,
    data: carried,
    failedStep: string.optional(),
    error: carried,
    startedAt: datetime,
    owner: string.optional().describe("The process that works on it"),
    leaseUntil: datetime,
    fence: int.default(0).describe("Goes up when another process takes it over"),
  })
    .internal()
    .index(["status", "leaseUntil"]);
  const step = entity(STEP, {
    runId: string,
    seq: int,
    phase: string,
    status: string,
    attempt: int,
    result: carried,
    memo: carried,
    data: carried,
    error: carried,
  })
    .internal()
    .index(["runId"]);
  return [run.build(), step.build()];
}
