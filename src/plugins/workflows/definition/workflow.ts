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

/** Hooks that are called while a workflow runs. Their errors are logged and do not affect the run. */
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
 * @typeParam TInput the part of the input that its steps use
 */
export interface WorkflowDefinition<TInput = unknown> {
  /** Type-level only: the input that an action must provide at least. */
  readonly $takes?: TInput;
  readonly name: string;
  readonly steps: readonly Step[];
  /** Initial `data` of each run. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Whether all database work is in one transaction. */
  readonly transactional: boolean;
  /** Milliseconds for all steps together; compensations are not included. @default only the limits of the steps */
  readonly timeout?: number | undefined;
  readonly hooks: WorkflowHooks;
}

/** The most steps of a workflow. Each step is a few rows, and all results are held in memory. */
const MOST_STEPS = 1_000;

/**
 * Checks a workflow and freezes it.
 * @throws ConfigurationError for a workflow without steps or with too many, two steps with the same name, a
 * transactional workflow with a step as the system, and an invalid time limit
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

/**
 * A hash of everything a resumed run depends on: the names and the order of the steps, and whether they share a
 * transaction.
 */
export function definitionHash({ steps, transactional }: WorkflowDefinition): string {
  const text = JSON.stringify([transactional, steps.map(({ name }) => name)]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

/** The status of a run. */
export type WorkflowStatus =
  /** Recorded; nothing has been done. */
  | "pending"
  | "running"
  | "completed"
  /** A step failed; the steps before it are being compensated. */
  | "compensating"
  | "compensated"
  /** A compensation failed: see `compensationErrors`. */
  | "compensation_failed"
  /** Its definition has changed since it started, or it was resumed too often; it is not continued automatically. */
  | "needs_attention";

/** A compensation that failed for good. */
export interface CompensationFailure {
  readonly step: string;
  readonly error: Error;
}

/** The outcome of a run. */
export interface WorkflowResult<TData = Record<string, unknown>> {
  readonly success: boolean;
  /** The initial data, with the values that steps stored with `set`. */
  readonly data: TData;
  /** Results of the steps that completed, by name. */
  readonly results: Readonly<Record<string, unknown>>;
  /** The error of the failed step. */
  readonly error?: Error | undefined;
  readonly failedStep?: string | undefined;
  /** Compensated steps, in the order of their compensations. */
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
 * @typeParam TInput the part of the input that its steps use
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

  /** Adds a step that already exists. */
  addStep(made: StepLike): WorkflowBuilder<TInput> {
    return this.#with({ steps: [...this.#draft.steps, toStep(made)] });
  }

  /** Initial `data` of each run. Later calls add to it. */
  withData(data: Readonly<Record<string, unknown>>): WorkflowBuilder<TInput> {
    return this.#with({ data: { ...this.#draft.data, ...data } });
  }

  /**
   * Runs all database work in one transaction. When a step fails, it rolls back; then the compensations of the steps
   * that are not marked `transactional` run.
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
   * Returns the same workflow each time, because a run continues with the workflow that its app knows.
   * @throws ConfigurationError for an invalid workflow: see `checkedWorkflow`
   */
  build(): WorkflowDefinition<TInput> {
    this.#built ??= checkedWorkflow(this.#draft) as WorkflowDefinition<TInput>;
    return this.#built;
  }
}

/** The forms of a workflow that functions accept. */
export type WorkflowLike = WorkflowDefinition | WorkflowBuilder | readonly StepLike[];

/**
 * Starts building a workflow with a name, or makes one from a list of steps.
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
