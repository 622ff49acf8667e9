import { describeError, InternalError } from "../../../kernel/index.ts";
import type { Step } from "../step.ts";
import type { WorkflowDefinition, WorkflowHooks } from "../workflow-definition.ts";
import type { CompensationFailure, WorkflowResult, WorkflowStatus } from "../workflow-result.ts";
import { StepTimeoutError } from "./attempt.ts";
import { createStepContext } from "./create-step-context.ts";
import { ResultNotKept } from "./result-not-kept.ts";
import { RunGivenUp } from "./run-given-up.ts";
import { runStep } from "./run-step.ts";
import type { Outcome, SagaRuntime, SagaState, StepEnvironment } from "./saga-runtime.ts";
import { StepInterruptedError } from "./step-interrupted-error.ts";

/**
 * Runs a workflow from where its state says it is: the steps in order, and when one fails, the compensations of those before
 * it in reverse order, all of them, whatever becomes of each (public-api.md, "Workflows").
 * @returns how it ended; a step that failed is no exception
 * @throws RunGivenUp when the journal cannot be written
 */
export async function runSaga(
  definition: WorkflowDefinition,
  runtime: SagaRuntime,
  state: SagaState,
): Promise<WorkflowResult> {
  const saga = { definition, runtime, state };
  if (state.failure === undefined) {
    await given(runtime.journal.moved("running"));
    await tell(saga, (hooks) => hooks.onStart?.(observer(saga)));
    await (definition.transactional ? executeTogether(saga) : executeEach(saga));
  }
  if (state.failure === undefined) {
    await given(runtime.journal.moved("completed"));
    const result = resultOf(saga, "completed", [], []);
    await tell(saga, (hooks) => hooks.onComplete?.(result));
    return result;
  }
  await given(runtime.journal.moved("compensating", state.failure));
  const { compensatedSteps, errors } = await compensate(saga);
  const status = errors.length === 0 ? "compensated" : "compensation_failed";
  await given(runtime.journal.moved(status, state.failure));
  const result = resultOf(saga, status, compensatedSteps, errors);
  await tell(saga, (hooks) => hooks.onFailed?.(result));
  return result;
}

interface Saga {
  readonly definition: WorkflowDefinition;
  readonly runtime: SagaRuntime;
  readonly state: SagaState;
}

async function executeEach(saga: Saga): Promise<void> {
  const { definition, runtime } = saga;
  const signal = deadline(saga);
  for (const [seq, step] of definition.steps.entries()) {
    if (!(await execute(saga, seq, step, signal, undefined))) return;
    await runtime.reached?.("between", "execute", step.name);
  }
}

/** What all steps store is one transaction; when one fails, nothing that can be rolled back has to be compensated. */
async function executeTogether(saga: Saga): Promise<void> {
  const { definition, runtime, state } = saga;
  const { steps } = definition;
  const signal = deadline(saga);
  const isDone = steps.every((_, seq) => state.executed[seq]?.status === "done");
  if (isDone) return;
  const interrupted = steps.findIndex((step, seq) => state.executed[seq]?.status === "unknown" && !rollsBack(step));
  if (interrupted !== -1) return interrupt(saga, interrupted);
  // Before the transaction: what cannot be rolled back must be known to have begun, and a database may have one writer only.
  for (const [seq, step] of steps.entries())
    if (!rollsBack(step)) await given(runtime.journal.started(seq, "execute", 1));
  const before = state.data;
  const rollback = new InternalError("The steps are rolled back");
  try {
    await runtime.transaction("caller", async (environment) => {
      state.executed.length = 0;
      state.data = before;
      for (const [seq, step] of steps.entries())
        if (!(await execute(saga, seq, step, signal, environment))) throw rollback;
    });
  } catch (error) {
    if (error !== rollback) throw new RunGivenUp(error);
    state.data = before;
    for (const [seq, step] of steps.entries()) if (rollsBack(step)) state.executed[seq] = undefined;
  }
}

function rollsBack({ atomic, transactional }: Step): boolean {
  return atomic === true || transactional === true;
}

/** @returns whether the run can go on */
async function execute(
  saga: Saga,
  seq: number,
  step: Step,
  signal: AbortSignal | undefined,
  within: StepEnvironment | undefined,
): Promise<boolean> {
  const { runtime, state } = saga;
  const known = state.executed[seq];
  if (known?.status === "done") return true;
  if (known?.status === "unknown" && step.atomic !== true && step.idempotent !== true) {
    interrupt(saga, seq);
    return false;
  }
  if (known?.status === "failed") {
    state.failure = { failedStep: step.name, error: known.error };
    return false;
  }
  try {
    const done = await runStep(runtime, state, {
      step,
      seq,
      phase: "execute",
      results: resultsOf(saga),
      signal,
      within,
    });
    state.executed[seq] = done;
    await tell(saga, (hooks) => hooks.onStepComplete?.(step.name, done.result, observer(saga)));
    return true;
  } catch (thrown) {
    if (thrown instanceof RunGivenUp) throw thrown;
    const error = toError(thrown);
    // One that ran out of time may have done something all the same, or may still do it.
    const isUnknown =
      (error instanceof StepTimeoutError || error instanceof ResultNotKept) &&
      !(step.atomic === true && within === undefined);
    const outcome: Outcome = isUnknown ? { status: "unknown" } : { status: "failed", error };
    state.executed[seq] = outcome;
    state.failure = { failedStep: step.name, error };
    if (within === undefined) await given(runtime.journal.finished(seq, "execute", outcome, undefined));
    await tell(saga, (hooks) => hooks.onStepFailed?.(step.name, error, observer(saga)));
    return false;
  }
}

function interrupt({ definition, state }: Saga, seq: number): void {
  const name = definition.steps[seq]?.name as string;
  state.failure = { failedStep: name, error: new StepInterruptedError(`Step "${name}" was interrupted`) };
}

/** Takes back what was done, and what may have been done; each on its own, the last one first. */
async function compensate(saga: Saga): Promise<{ compensatedSteps: string[]; errors: CompensationFailure[] }> {
  const { definition, runtime, state } = saga;
  const compensatedSteps: string[] = [];
  const errors: CompensationFailure[] = [];
  for (const [seq, step] of [...definition.steps.entries()].reverse()) {
    const executed = state.executed[seq];
    if (executed === undefined || executed.status === "failed" || step.compensate === undefined) continue;
    if (executed.status === "unknown" && step.atomic === true) continue; // it was rolled back
    const known = state.compensated[seq];
    if (known?.status === "done") {
      compensatedSteps.push(step.name);
      continue;
    }
    if (known?.status === "failed") {
      errors.push({ step: step.name, error: known.error });
      continue;
    }
    try {
      await tell(saga, (hooks) => hooks.onCompensate?.(step.name, observer(saga)));
      const { result, memo } = executed.status === "done" ? executed : {};
      const results = resultsOf(saga);
      await runStep(runtime, state, { step, seq, phase: "compensate", result, memo, results, signal: undefined });
      compensatedSteps.push(step.name);
    } catch (thrown) {
      if (thrown instanceof RunGivenUp) throw thrown;
      const error = toError(thrown);
      errors.push({ step: step.name, error });
      runtime.log.error("A compensation failed", { runId: runtime.runId, step: step.name, ...describeError(error) });
      await given(runtime.journal.finished(seq, "compensate", { status: "failed", error }, undefined));
    }
    await runtime.reached?.("between", "compensate", step.name);
  }
  return { compensatedSteps, errors };
}

/** When the steps have to be done; from the start of the run, whoever began it. */
function deadline({ definition, runtime }: Saga): AbortSignal | undefined {
  if (definition.timeout === undefined) return runtime.signal;
  const left = runtime.startedAt.getTime() + definition.timeout - Date.now();
  const limit = AbortSignal.timeout(Math.max(0, left));
  return runtime.signal === undefined ? limit : AbortSignal.any([limit, runtime.signal]);
}

function resultsOf({ definition, state }: Saga): Readonly<Record<string, unknown>> {
  const results: Record<string, unknown> = {};
  for (const [seq, { name }] of definition.steps.entries()) {
    const outcome = state.executed[seq];
    if (outcome?.status === "done") results[name] = outcome.result;
  }
  return results;
}

function resultOf(
  saga: Saga,
  status: WorkflowStatus,
  compensatedSteps: readonly string[],
  compensationErrors: readonly CompensationFailure[],
): WorkflowResult {
  const { definition, runtime, state } = saga;
  const { runId: id, startedAt } = runtime;
  return {
    success: status === "completed",
    data: state.data,
    results: resultsOf(saga),
    ...(state.failure ?? {}),
    compensatedSteps,
    compensationErrors,
    status,
    duration: Date.now() - startedAt.getTime(),
    metadata: { id, name: definition.name, startedAt },
  };
}

/** What hooks are given: they look, and do nothing in the database of the run. */
function observer(saga: Saga): ReturnType<typeof createStepContext> {
  const { runtime, state } = saga;
  const signal = runtime.signal ?? new AbortController().signal;
  const about = {
    seq: 0,
    phase: "execute" as const,
    attempt: 1,
    signal,
    results: resultsOf(saga),
    hasEnded: () => false,
  };
  return createStepContext(runtime, state, runtime.environment("caller"), about);
}

async function tell({ definition, runtime }: Saga, call: (hooks: WorkflowHooks) => unknown): Promise<void> {
  try {
    await call(definition.hooks);
  } catch (error) {
    const { runId, log } = runtime;
    log.error("A hook of a workflow failed", { runId, workflow: definition.name, ...describeError(error) });
  }
}

async function given(recorded: Promise<void>): Promise<void> {
  try {
    await recorded;
  } catch (error) {
    throw error instanceof RunGivenUp ? error : new RunGivenUp(error);
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new InternalError("A step failed with something that is no error", { cause: thrown });
}
