import type { ConflictError } from "../../../kernel/index.ts";
import { type FollowParts, followRun } from "./follow-run.ts";
import { RUN } from "./journal-entities.ts";
import { assertSameRun, sameRun } from "./same-run.ts";
import type { Caller, RunHandle, RunRequest } from "./workflow-engine.ts";

/**
 * A run of an id that has been begun before, or by another process: its end is this one's.
 * @param conflict what beginning it once more ran into
 * @throws ConflictError when it is of another workflow, or on somebody else's behalf
 */
export async function attachRun(
  parts: FollowParts,
  { workflow, caller, input }: RunRequest,
  runId: string,
  conflict: ConflictError,
): Promise<RunHandle> {
  const row = await parts.host.runAs("system", ({ driver }) => driver.findOne(RUN, { id: runId }));
  if (row === null) throw conflict;
  const { encode, decode } = parts.codec;
  const whose = decode(row.caller as string | null) as Caller;
  const stored = decode(row.input as string | null);
  const known = sameRun({ ...workflow, name: row.name as string }, whose, stored, row.definition);
  assertSameRun(runId, known, sameRun(workflow, caller, decode(encode(input))));
  const result = followRun(parts, workflow, runId);
  result.catch(() => {}); // whoever does not wait asks for the run
  return { runId, result };
}
