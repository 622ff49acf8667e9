import { deadlineOf } from "./deadline-of.ts";
import { executeStep } from "./execute-step.ts";
import type { Saga } from "./saga.ts";

/** Executes the steps, each on its own, until one fails. */
export async function executeEach(saga: Saga): Promise<void> {
  const { definition, runtime } = saga;
  const signal = deadlineOf(saga);
  for (const [seq, { name }] of definition.steps.entries()) {
    if (!(await executeStep(saga, seq, { signal }))) return;
    await runtime.reached?.("between", "execute", name, runtime.runId);
  }
}
