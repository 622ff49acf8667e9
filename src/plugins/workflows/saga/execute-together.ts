import { InternalError } from "../../../kernel/index.ts";
import type { Step } from "../step.ts";
import { deadlineOf } from "./deadline-of.ts";
import { executeStep, interrupt } from "./execute-step.ts";
import { recorded } from "./recorded.ts";
import { RunGivenUp } from "./run-given-up.ts";
import type { Saga } from "./saga.ts";
import type { Outcome } from "./saga-runtime.ts";
import { toError } from "./to-error.ts";
import { withinTransaction } from "./within-transaction.ts";

/** What all steps store is one transaction; when one fails, nothing that can be rolled back has to be compensated. */
export async function executeTogether(saga: Saga): Promise<void> {
  const { definition, runtime, state } = saga;
  const { steps } = definition;
  const outer = deadlineOf(saga);
  if (steps.every((_, seq) => state.executed[seq]?.status === "done")) return;
  const interrupted = steps.findIndex((step, seq) => !rollsBack(step) && isSpent(step, state.executed[seq]));
  if (interrupted !== -1) return interrupt(saga, interrupted);
  // Before the transaction: what cannot be rolled back must be known to have begun, and a database may have one writer only.
  for (const [seq, step] of steps.entries())
    if (!rollsBack(step)) await recorded(runtime.journal.started(seq, "execute", 1));
  const before = state.data;
  const rollback = new InternalError("The steps are rolled back");
  try {
    await runtime.transaction("caller", (within) =>
      withinTransaction(outer, async (signal) => {
        state.executed.length = 0;
        state.failure = undefined; // the driver may have rolled back and tried again
        state.data = before;
        for (const seq of steps.keys()) if (!(await executeStep(saga, seq, { signal, within }))) throw rollback;
      }),
    );
  } catch (error) {
    if (error instanceof RunGivenUp) throw error;
    // Whether it was stored is for the journal to say, to whoever takes the run up.
    if (error !== rollback && runtime.isDurable) throw new RunGivenUp(error);
    state.failure ??= { failedStep: steps.at(-1)?.name as string, error: toError(error) };
    state.data = before;
    await keepOutcomes(saga);
  }
}

/** What is not rolled back has to be compensated, with the result it had: that was rolled back, too. */
async function keepOutcomes({ definition, runtime, state }: Saga): Promise<void> {
  for (const [seq, step] of definition.steps.entries()) {
    const outcome = state.executed[seq];
    if (rollsBack(step)) state.executed[seq] = undefined;
    // Its data, too, is that of a run in which nothing was stored.
    else if (outcome?.status === "done") state.executed[seq] = { ...outcome, data: state.data };
    const kept = state.executed[seq] ?? (rollsBack(step) ? undefined : notBegun(state.failure?.error));
    if (kept !== undefined) await recorded(runtime.journal.finished(seq, "execute", kept, undefined));
  }
}

/** Whether a step must not run again: what the others stored was rolled back, or went with the process. */
function isSpent({ idempotent }: Step, known: Outcome | undefined): boolean {
  return known !== undefined && (known.status !== "unknown" || idempotent !== true);
}

function notBegun(error: Error | undefined): Outcome {
  return { status: "failed", error: error ?? new InternalError("The step was not begun") };
}

function rollsBack({ atomic, transactional }: Step): boolean {
  return atomic === true || transactional === true;
}
