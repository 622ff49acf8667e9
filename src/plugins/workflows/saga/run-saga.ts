import { describeError, InternalError } from "../../../kernel/index.ts";
import type { Step } from "../definition/step.ts";
import type { WorkflowDefinition, WorkflowResult, WorkflowStatus } from "../definition/workflow.ts";
import { RunGivenUp, recorded, toError } from "./attempt.ts";
import { executeStep, interrupt, tellHooks } from "./execute-step.ts";
import { ATOMIC_MS, runStep } from "./run-step.ts";
import {
  nowOf,
  type Outcome,
  resultsOf,
  type Saga,
  type SagaRuntime,
  type SagaState,
  sagaResult,
} from "./saga-runtime.ts";

/**
 * Runs a workflow from its current state: the steps in order and, if one fails, the compensations of the previous steps
 * in reverse order. A failed compensation does not stop the others.
 * @returns the outcome; a failed step does not throw
 * @throws RunGivenUp when the journal cannot be written
 */
export async function runSaga(
  definition: WorkflowDefinition,
  runtime: SagaRuntime,
  state: SagaState,
): Promise<WorkflowResult> {
  const saga: Saga = { definition, runtime, state };
  if (state.failure === undefined) {
    await recorded(runtime.journal.moved("running"));
    await tellHooks(saga, (hooks, observer) => hooks.onStart?.(observer()));
    await (definition.transactional ? executeTogether(saga) : executeEach(saga));
  }
  if (state.failure === undefined) {
    await recorded(runtime.journal.moved("completed"));
    const result = resultOf(saga, "completed");
    await tellHooks(saga, (hooks) => hooks.onComplete?.(result));
    return result;
  }
  const failure = { ...state.failure, shown: state.shown };
  await recorded(runtime.journal.moved("compensating", failure));
  const isTakenBack = await compensateSteps(saga);
  const status = isTakenBack ? "compensated" : "compensation_failed";
  await recorded(runtime.journal.moved(status, failure));
  const result = resultOf(saga, status);
  await tellHooks(saga, (hooks) => hooks.onFailed?.(result));
  return result;
}

function resultOf({ definition, runtime, state }: Saga, status: WorkflowStatus): WorkflowResult {
  const { runId, startedAt } = runtime;
  return sagaResult(definition, state, status, { runId, startedAt, endedAt: nowOf(runtime) });
}

/** Executes the steps, each with its own transactions, until one fails. */
async function executeEach(saga: Saga): Promise<void> {
  const { definition, runtime } = saga;
  const signal = deadlineOf(saga);
  for (const [seq, { name }] of definition.steps.entries()) {
    if (!(await executeStep(saga, seq, { signal }))) return;
    await runtime.reached?.("between", "execute", name, runtime.runId);
  }
}

/**
 * Compensates the steps that are done and those whose outcome is unknown, the last one first.
 * @returns whether all compensations succeeded
 * @throws RunGivenUp when the journal cannot be written
 */
async function compensateSteps(saga: Saga): Promise<boolean> {
  const { definition, runtime, state } = saga;
  for (const [seq, step] of [...definition.steps.entries()].reverse()) {
    if (!needsTakingBack(step, state.executed[seq])) continue;
    // A compensation that failed for good before a crash is not repeated.
    if (state.compensated[seq] !== undefined) continue;
    await compensate(saga, seq, step);
    await runtime.reached?.("between", "compensate", step.name, runtime.runId);
  }
  return state.compensated.every((outcome) => outcome?.status !== "failed");
}

function needsTakingBack(step: Step, executed: Outcome | undefined): boolean {
  if (executed === undefined || executed.status === "failed" || step.compensate === undefined) return false;
  return executed.status === "done" || step.atomic !== true; // an atomic step with an unknown outcome was rolled back
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

/** Executes all steps in one transaction. When one fails, only steps that cannot be rolled back need compensation. */
async function executeTogether(saga: Saga): Promise<void> {
  const { definition, runtime, state } = saga;
  const { steps } = definition;
  const outer = deadlineOf(saga);
  if (steps.every((_, seq) => state.executed[seq]?.status === "done")) return;
  const interrupted = steps.findIndex((step, seq) => !rollsBack(step) && isSpent(step, state.executed[seq]));
  if (interrupted !== -1) return interrupt(saga, interrupted);
  // Noted before the transaction: a step that cannot be rolled back must be recorded first, and a database may have a
  // single writer.
  for (const [seq, step] of steps.entries())
    if (!rollsBack(step)) await recorded(runtime.journal.started(seq, "execute", 1));
  const before = state.data;
  const rollback = new InternalError("The steps are rolled back");
  try {
    await runtime.transaction("caller", (within) =>
      withinTransaction(outer, async (signal) => {
        state.executed.length = 0;
        state.failure = undefined; // the driver may have rolled back and retried
        state.data = before;
        for (const seq of steps.keys()) if (!(await executeStep(saga, seq, { signal, within }))) throw rollback;
      }),
    );
  } catch (error) {
    if (error instanceof RunGivenUp) throw error;
    // It is unknown whether the transaction was committed. The journal tells the process that resumes the run.
    if (error !== rollback && runtime.isDurable) throw new RunGivenUp(error);
    state.failure ??= { failedStep: steps.at(-1)?.name as string, error: toError(error) };
    state.data = before;
    await keepOutcomes(saga);
  }
}

/**
 * Records steps that need compensation again, with their results: their entries were rolled back with the transaction.
 */
async function keepOutcomes({ definition, runtime, state }: Saga): Promise<void> {
  for (const [seq, step] of definition.steps.entries()) {
    const outcome = state.executed[seq];
    if (rollsBack(step)) state.executed[seq] = undefined;
    // Its data is reset, too, as nothing was stored.
    else if (outcome?.status === "done") state.executed[seq] = { ...outcome, data: state.data };
    const kept = state.executed[seq] ?? (rollsBack(step) ? undefined : notBegun(state));
    if (kept !== undefined) await recorded(runtime.journal.finished(seq, "execute", kept, undefined));
  }
}

/** Whether a step must not run again: the stored work of the other steps was rolled back, or lost with the process. */
function isSpent({ idempotent }: Step, known: Outcome | undefined): boolean {
  return known !== undefined && (known.status !== "unknown" || idempotent !== true);
}

function notBegun({ failure, shown }: SagaState): Outcome {
  return { status: "failed", error: failure?.error ?? new InternalError("The step was not begun"), shown };
}

function rollsBack({ atomic, transactional }: Step): boolean {
  return atomic === true || transactional === true;
}

/**
 * Runs the steps of one transaction with a shorter time limit than the transaction's. A step then fails, and not the
 * transaction, whose outcome would be unknown.
 * @param outer aborted when the time for all steps is up
 */
async function withinTransaction<T>(
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const end = (): void => over.abort();
  const timer = setTimeout(end, ATOMIC_MS);
  if (outer?.aborted === true) end();
  outer?.addEventListener("abort", end, { once: true });
  try {
    return await work(over.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", end);
  }
}

/** The deadline of the steps, counted from the start of the run, even in another process. */
function deadlineOf({ definition, runtime }: Saga): AbortSignal | undefined {
  if (definition.timeout === undefined) return runtime.signal;
  const left = runtime.startedAt.getTime() + definition.timeout - nowOf(runtime).getTime();
  const limit = left > 0 ? AbortSignal.timeout(Math.ceil(left)) : AbortSignal.abort();
  return runtime.signal === undefined ? limit : AbortSignal.any([limit, runtime.signal]);
}
