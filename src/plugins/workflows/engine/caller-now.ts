import type { OperationScope } from "../../../gate/index.ts";
import { AuthenticationError, withDeadline } from "../../../kernel/index.ts";
import type { WorkflowDefinition } from "../definition/workflow-definition.ts";
import type { SagaState } from "../saga/saga-runtime.ts";
import type { Caller, EngineHost } from "./workflow-engine.ts";

/**
 * The caller of a run that is taken up. The app is asked for the user as they are now, if it can say so. If the user no
 * longer exists, the run is compensated.
 * @param kept the caller as the journal has it
 * @throws what the app throws: the run waits for the next time
 */
export async function callerNow(
  { userOf }: EngineHost,
  system: OperationScope,
  definition: WorkflowDefinition,
  kept: Caller,
  state: SagaState,
): Promise<Caller> {
  // Compensations and runs without remaining steps do not need the caller's rights.
  const next = definition.steps.find((_, seq) => state.executed[seq]?.status !== "done");
  if (userOf === undefined || kept === null || kept === "system") return kept;
  if (state.failure !== undefined || next === undefined) return kept;
  const asking = (async () => userOf(kept.id))();
  const found = await withDeadline(asking, system.limits.hookMs, "userOf");
  if (found?.id === kept.id) return found;
  state.failure = { failedStep: next.name, error: new AuthenticationError("There is no such user any more") };
  return kept;
}
