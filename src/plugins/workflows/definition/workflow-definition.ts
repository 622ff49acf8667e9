import { createHash } from "node:crypto";
import { ConfigurationError } from "../../../entity/index.ts";
import { checkTimeout, type Step } from "./step.ts";
import type { StepContext } from "./step-context.ts";
import type { WorkflowResult } from "./workflow-result.ts";

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
