import type { Driver, Row } from "../../../gate/index.ts";
import type { WorkflowDefinition } from "../definition/workflow-definition.ts";
import type { WorkflowStatus } from "../definition/workflow-result.ts";
import type { Outcome, SagaState } from "../saga/saga-runtime.ts";
import { StepInterruptedError } from "../saga/step-interrupted-error.ts";
import { type Codec, hasGone } from "./journal-codec.ts";
import { STEP } from "./journal-entities.ts";
import { errorOf } from "./stored-error.ts";

/** Statuses of runs that still have work to do. */
export const UNFINISHED: readonly WorkflowStatus[] = ["pending", "running", "compensating"];

/** What a journal knows of a run, as far as going on with it needs. */
export async function loadState(
  driver: Driver,
  run: Row,
  definition: WorkflowDefinition,
  codec: Codec,
): Promise<SagaState> {
  return stateOf(run, await driver.findMany(STEP, { where: { runId: run.id } }), definition, codec);
}

/** The same of entries that are known already. */
export function stateOf(run: Row, rows: readonly Row[], definition: WorkflowDefinition, codec: Codec): SagaState {
  const state: SagaState = {
    executed: [],
    compensated: [],
    data: (codec.decode(run.data as string) ?? {}) as Record<string, unknown>,
    failure:
      run.failedStep === null
        ? undefined
        : { failedStep: run.failedStep as string, error: errorOf(run.error as string | null) },
  };
  for (const row of rows)
    (row.phase === "execute" ? state.executed : state.compensated)[row.seq as number] = outcomeOf(row, codec);
  // A step that still has to run may need the password that is gone with the process it was given to.
  const isGone = [run.input, run.data, ...rows.map(({ result }) => result)].some((text) => hasGone(text as string));
  if (state.failure === undefined && isGone) {
    const next = definition.steps.find((_, seq) => state.executed[seq]?.status !== "done");
    if (next !== undefined)
      state.failure = {
        failedStep: next.name,
        error: new StepInterruptedError(`Step "${next.name}" needs a password, which is kept nowhere`),
      };
  }
  return state;
}

function outcomeOf(row: Row, codec: Codec): Outcome | undefined {
  switch (row.status) {
    case "done":
      return {
        status: "done",
        result: codec.decode(row.result as string | null),
        memo: codec.decode(row.memo as string | null),
        data: (codec.decode(row.data as string | null) ?? {}) as Record<string, unknown>,
      };
    case "failed":
      return { status: "failed", error: errorOf(row.error as string | null) };
    default:
      // Begun, and never ended: a compensation is begun again, with the same key.
      return row.phase === "execute" ? { status: "unknown" } : undefined;
  }
}
