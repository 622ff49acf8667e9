import { ConfigurationError } from "../../../entity/index.ts";
import {
  type CompensateStep,
  type ExecuteStep,
  type Step,
  type StepLike,
  type StepOptions,
  step,
  toStep,
} from "./step.ts";
import { checkedWorkflow, type WorkflowDefinition, type WorkflowHooks } from "./workflow-definition.ts";

type Draft = Omit<WorkflowDefinition, "steps"> & { readonly steps: readonly Step[] };

/**
 * Builds a workflow; each method returns a new builder.
 * @typeParam TInput what its steps know of the input
 */
export class WorkflowBuilder<TInput = unknown> {
  readonly #draft: Draft;
  #built: WorkflowDefinition<TInput> | undefined;

  constructor(name: string, draft: Partial<Draft> = {}) {
    this.#draft = { data: {}, transactional: false, hooks: {}, steps: [], ...draft, name };
  }

  #with(change: Partial<Draft>): WorkflowBuilder<TInput> {
    return new WorkflowBuilder<TInput>(this.#draft.name, { ...this.#draft, ...change });
  }

  /** Adds a step; see `step()`. */
  step<TResult>(
    name: string,
    execute: ExecuteStep<TInput, TResult>,
    compensate?: CompensateStep<TInput, TResult>,
    options?: StepOptions,
  ): WorkflowBuilder<TInput> {
    return this.addStep(step(name, execute, compensate, options) as StepLike);
  }

  /** Adds a step that is made already. */
  addStep(made: StepLike): WorkflowBuilder<TInput> {
    return this.#with({ steps: [...this.#draft.steps, toStep(made)] });
  }

  /** What `data` of each run begins with; later calls add to it. */
  withData(data: Readonly<Record<string, unknown>>): WorkflowBuilder<TInput> {
    return this.#with({ data: { ...this.#draft.data, ...data } });
  }

  /**
   * All database work in one transaction: when a step fails it rolls back, and then the compensations of steps that are not
   * marked `transactional` run.
   */
  transactional(): WorkflowBuilder<TInput> {
    return this.#with({ transactional: true });
  }

  /** @param milliseconds for all steps together */
  withTimeout(milliseconds: number): WorkflowBuilder<TInput> {
    return this.#with({ timeout: milliseconds });
  }

  withHooks(hooks: WorkflowHooks): WorkflowBuilder<TInput> {
    return this.#with({ hooks: { ...this.#draft.hooks, ...hooks } });
  }

  /**
   * Returns the same workflow each time, because a run continues with the one that its app knows.
   * @throws ConfigurationError for a workflow without steps, two steps of one name, and an invalid time limit
   */
  build(): WorkflowDefinition<TInput> {
    this.#built ??= checkedWorkflow(this.#draft) as WorkflowDefinition<TInput>;
    return this.#built;
  }
}

/** What may stand where a workflow is wanted. */
export type WorkflowLike = WorkflowDefinition | WorkflowBuilder | readonly StepLike[];

/**
 * Starts a workflow by its name, or makes one of steps at once.
 * @example
 * workflow("order").step("reserve", reserve, release).step("charge", charge, refund).build()
 */
export function workflow<TInput = unknown>(name: string): WorkflowBuilder<TInput>;
export function workflow(steps: readonly StepLike[]): WorkflowDefinition;
export function workflow(start: string | readonly StepLike[]): WorkflowBuilder | WorkflowDefinition {
  return typeof start === "string" ? new WorkflowBuilder(start) : toWorkflow(start);
}

/** Name of a workflow that is only a list of steps. */
export const UNNAMED = "workflow";

/** @param name of a workflow that is only a list of steps @throws ConfigurationError */
export function toWorkflow(like: WorkflowLike, name = UNNAMED): WorkflowDefinition {
  if (like instanceof WorkflowBuilder) return like.build();
  if (!Array.isArray(like)) {
    if (Array.isArray((like as Partial<WorkflowDefinition> | undefined)?.steps)) return like as WorkflowDefinition;
    throw new ConfigurationError("A workflow is a list of steps, or what workflow(name) builds");
  }
  const steps = like.map(toStep);
  return checkedWorkflow({ name, steps, data: {}, transactional: false, hooks: {} });
}
