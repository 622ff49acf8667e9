import { type AnyEntity, type FieldDefinition, isKeelsonError } from "../../entity/index.ts";
import type { PluginContext } from "../../gate/index.ts";
import type { StepLike } from "./definition/step.ts";
import { checkedWorkflow, toWorkflow, type WorkflowDefinition, type WorkflowLike } from "./definition/workflow.ts";

/** The declared output of an action. */
export type OutputFields = Readonly<Record<string, FieldDefinition>>;

type DeclaredFields = Readonly<Record<string, { readonly definition: FieldDefinition }>>;

/** The part of an action that workflows use. */
interface ActionLike {
  readonly workflow?: {
    readonly steps: WorkflowLike;
    readonly options?: Partial<Omit<WorkflowDefinition, "name" | "steps">> | undefined;
  };
  readonly output?: DeclaredFields | undefined;
}

/** The definition of an attached action, either built or a plain object. */
function definitionOf(action: unknown): ActionLike {
  const { definition = action } = (action ?? {}) as { readonly definition?: unknown };
  return (definition ?? {}) as ActionLike;
}

/** Whether any action of these entities is a workflow. */
export function haveWorkflows(entities: readonly AnyEntity[]): boolean {
  return entities.some(({ actions }) =>
    Object.values(actions).some((action) => definitionOf(action).workflow !== undefined),
  );
}

/**
 * Registers the workflows of an app: those in its options, and those of its actions, named `entity.action`.
 * @returns declared outputs of actions, by the name of their workflow
 */
export function registerWorkflows(
  { entities, problem }: PluginContext,
  given: readonly WorkflowLike[],
  known: Map<string, WorkflowDefinition>,
): ReadonlyMap<string, OutputFields> {
  const outputs = new Map<string, OutputFields>();
  const add = (at: string, make: () => WorkflowDefinition): void => {
    try {
      const made = make();
      if (known.has(made.name)) problem(`${at}: there is a workflow "${made.name}" already`);
      known.set(made.name, made);
    } catch (error) {
      if (!isKeelsonError(error)) throw error;
      problem(`${at}: ${error.message}`);
    }
  };
  for (const one of given) add("workflows", () => toWorkflow(one));
  for (const entity of entities.entities)
    for (const [name, action] of Object.entries(entity.actions)) {
      const { workflow: attached, output } = definitionOf(action);
      if (attached === undefined) continue;
      const own = `${entity.name}.${name}`;
      add(`action "${name}" of ${entity.name}`, () =>
        checkedWorkflow({ ...toWorkflow(attached.steps as readonly StepLike[]), ...attached.options, name: own }),
      );
      if (output !== undefined)
        outputs.set(own, Object.fromEntries(Object.entries(output).map(([field, made]) => [field, made.definition])));
    }
  return outputs;
}
