import { type AnyEntity, type FieldDefinition, isKeelsonError } from "../../entity/index.ts";
import type { PluginContext } from "../../gate/index.ts";
import type { StepLike } from "./definition/step.ts";
import { checkedWorkflow, toWorkflow, type WorkflowDefinition, type WorkflowLike } from "./definition/workflow.ts";

/** What an action declares that it answers. */
export type OutputFields = Readonly<Record<string, FieldDefinition>>;

type DeclaredFields = Readonly<Record<string, { readonly definition: FieldDefinition }>>;

/** An action, as far as workflows know. */
interface ActionLike {
  readonly workflow?: {
    readonly steps: WorkflowLike;
    readonly options?: Partial<Omit<WorkflowDefinition, "name" | "steps">> | undefined;
  };
  readonly output?: DeclaredFields | undefined;
}

/** What an attached action says, whatever it was written with. */
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
 * Makes known the workflows of an app: those it names, and those of its actions, which are called as the action is.
 * @returns what actions declare that they answer, by name of their workflow
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
