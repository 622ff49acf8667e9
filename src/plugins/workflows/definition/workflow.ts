import { createHash } from "node:crypto";
import { ConfigurationError } from "../../../entity/index.ts";
import {
  type CompensateStep,
  checkTimeout,
  type ExecuteStep,
  type Step,
  type StepContext,
  type StepLike,
  type StepOptions,
  step,
  toStep,
} from "./step.ts";

/** What is called while a workflow runs. What they throw is logged and changes nothing. */
export interface WorkflowHooks {
  onStart?(context: StepContext): unknown;
  onStepComplete?(step: string, result: unknown, context: StepContext): unknown;
  onStepFailed?(step: string, error: Error, context: StepContext): unknown;
  onCompensate?(step: string, context: StepContext): unknown;
  onComplete?(result: WorkflowResult): unknown;
  onFailed?(result: WorkflowResult): unknown;
}

/**
 * A workflow as frozen data.
 * @typeParam TInput what its steps know of the input
 */
export interface WorkflowDefinition<TInput = unknown> {
  /** Type-level only: an action must give at least this input. */
  readonly $takes?: TInput;
  readonly name: string;
  readonly steps: readonly Step[];
  /** What `data` of each run begins with. */
  readonly data: Readonly<Record<string, unknown>>;
  /** All database work in one transaction. */
  readonly transactional: boolean;
  /** Milliseconds for all steps together; compensations have their own. @default no limit but those of the steps */
  readonly timeout?: number | undefined;
  readonly hooks: WorkflowHooks;
}

/** Steps of a workflow: each is a few rows, and the results of all of them are in memory. */
const MOST_STEPS = 1_000;

/**
 * @throws ConfigurationError for a workflow without steps, or with too many, two steps of one name, and an invalid time limit
 */
export function checkedWorkflow(definition: WorkflowDefinition): WorkflowDefinition {
  const { name, steps, timeout } = definition;
  checkTimeout(`Workflow "${name}"`, timeout);
  if (steps.length === 0) throw new ConfigurationError(`Workflow "${name}" has no steps`);
  if (steps.length > MOST_STEPS)
    throw new ConfigurationError(
      `Workflow "${name}" has ${steps.length} steps, and may have ${MOST_STEPS}; let one step do the work of several`,
    );
  const names = new Set<string>();
  const twice = steps.find((one) => names.size === names.add(one.name).size);
  if (twice !== undefined) throw new ConfigurationError(`Workflow "${name}" has two steps called "${twice.name}"`);
  const asSystem = definition.transactional ? steps.find((one) => one.asSystem) : undefined;
  if (asSystem !== undefined)
    throw new ConfigurationError(
      `Workflow "${name}" is one transaction of its caller, so "${asSystem.name}" cannot be the system's`,
    );
  return Object.freeze({
    ...definition,
    steps: Object.freeze([...steps]),
    data: Object.freeze({ ...definition.data }),
  });
}

/** What a run needs to go on where it was: the names and the order of the steps. */
export function definitionHash({ steps, transactional }: WorkflowDefinition): string {
  const text = JSON.stringify([transactional, steps.map(({ name }) => name)]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

/** Where a run stands. */
export type WorkflowStatus =
  /** Recorded; nothing has been done. */
  | "pending"
  | "running"
  | "completed"
  /** A step failed; what was done before is being taken back. */
  | "compensating"
  | "compensated"
  /** Something could not be taken back: `compensationErrors` says what. */
  | "compensation_failed"
  /** Its definition has changed since it was started; it is not continued automatically. */
  | "needs_attention";

/** A compensation that failed for good. */
export interface CompensationFailure {
  readonly step: string;
  readonly error: Error;
}

/** How a run ended. */
export interface WorkflowResult<TData = Record<string, unknown>> {
  readonly success: boolean;
  /** What steps left with `set`, and what the workflow began with. */
  readonly data: TData;
  /** Results of the steps that completed, by name. */
  readonly results: Readonly<Record<string, unknown>>;
  /** What made a step fail. */
  readonly error?: Error | undefined;
  readonly failedStep?: string | undefined;
  /** Steps that were taken back, in the order in which that happened. */
  readonly compensatedSteps: readonly string[];
  readonly compensationErrors: readonly CompensationFailure[];
  readonly status: WorkflowStatus;
  /** Milliseconds. */
  readonly duration: number;
  readonly metadata: { readonly id: string; readonly name: string; readonly startedAt: Date };
}

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
