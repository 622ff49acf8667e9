import { describeError } from "../../../kernel/index.ts";
import type { Step } from "../step.ts";
import { recorded } from "./recorded.ts";
import { RunGivenUp } from "./run-given-up.ts";
import { runStep } from "./run-step.ts";
import type { Saga } from "./saga.ts";
import { resultsOf } from "./saga-result.ts";
import type { Outcome } from "./saga-runtime.ts";
import { tellHooks } from "./tell-hooks.ts";
import { toError } from "./to-error.ts";

/**
 * Takes back what was done, and what may have been done; each on its own, the last one first.
 * @returns whether all of it succeeded
 * @throws RunGivenUp when the journal cannot be written
 */
export async function compensateSteps(saga: Saga): Promise<boolean> {
  const { definition, runtime, state } = saga;
  for (const [seq, step] of [...definition.steps.entries()].reverse()) {
    if (!needsTakingBack(step, state.executed[seq])) continue;
    // One that failed for good before a crash is not tried again.
    if (state.compensated[seq] !== undefined) continue;
    await compensate(saga, seq, step);
    await runtime.reached?.("between", "compensate", step.name, runtime.runId);
  }
  return state.compensated.every((outcome) => outcome?.status !== "failed");
}

function needsTakingBack(step: Step, executed: Outcome | undefined): boolean {
  if (executed === undefined || executed.status === "failed" || step.compensate === undefined) return false;
  return executed.status === "done" || step.atomic !== true; // an atomic one that nobody knows of was rolled back
}

async function compensate(saga: Saga, seq: number, step: Step): Promise<void> {
  const { definition, runtime, state } = saga;
  const executed = state.executed[seq];
  const { result, memo } = executed?.status === "done" ? executed : {};
  try {
    await tellHooks(saga, (hooks, observer) => hooks.onCompensate?.(step.name, observer()));
    const results = (): ReturnType<typeof resultsOf> => resultsOf(definition, state);
    const run = { step, seq, phase: "compensate", result, memo, results, signal: undefined } as const;
    state.compensated[seq] = await runStep(runtime, state, run);
  } catch (thrown) {
    if (thrown instanceof RunGivenUp) throw thrown;
    const error = toError(thrown);
    const outcome: Outcome = { status: "failed", error };
    state.compensated[seq] = outcome;
    runtime.log.error("A compensation failed", { runId: runtime.runId, step: step.name, ...describeError(error) });
    await recorded(runtime.journal.finished(seq, "compensate", outcome, undefined));
  }
}
