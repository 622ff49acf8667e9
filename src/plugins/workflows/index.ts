// Adds workflows: steps in order, taken back in reverse when one fails, in memory or with a journal that survives the process.
// Specification sections 1 (5), 1.1 and 4.3; public-api.md "Workflows"; security.md item 11.
import { type AnyEntity, isKeelsonError } from "../../entity/index.ts";
import {
  createPlugin,
  EntityNotFoundError,
  type Plugin,
  type PluginContext,
  type RouteContext,
  schemaFromEntities,
  WorkflowFailedError,
  type WorkflowRunner,
} from "../../kernel/index.ts";
import { type JournalOptions, journalEngine } from "./engine/journal-engine.ts";
import { journalEntities, RUN } from "./engine/journal-entities.ts";
import { memoryEngine } from "./engine/memory-engine.ts";
import type { WorkflowEngine } from "./engine/workflow-engine.ts";
import { type AppWorkflows, callerOf, ENGINE_SERVICE } from "./run-workflow.ts";
import type { StepLike } from "./step.ts";
import { toWorkflow, type WorkflowBuilder, type WorkflowLike } from "./workflow-builder.ts";
import { checkedWorkflow, type WorkflowDefinition } from "./workflow-definition.ts";
import type { WorkflowResult } from "./workflow-result.ts";

export { type DbosOptions, dbosEngine } from "./dbos/dbos-engine.ts";
export { type JournalOptions, journalEngine } from "./engine/journal-engine.ts";
export { memoryEngine } from "./engine/memory-engine.ts";
export type { Caller, EngineHost, RunHandle, RunReport, RunRequest, WorkflowEngine } from "./engine/workflow-engine.ts";
export { createEntityStep } from "./entity-steps/create-entity-step.ts";
export { deleteEntityStep } from "./entity-steps/delete-entity-step.ts";
export { updateEntityStep } from "./entity-steps/update-entity-step.ts";
export { type ExecuteOptions, executeWorkflow } from "./execute-workflow.ts";
export { type RunOptions, runWorkflow } from "./run-workflow.ts";
export {
  type CompensateStep,
  type ExecuteStep,
  type RetryOptions,
  type Step,
  type StepLike,
  type StepOptions,
  step,
  withOptions,
} from "./step.ts";
export type { StepContext } from "./step-context.ts";
export { WorkflowBuilder, type WorkflowLike, workflow } from "./workflow-builder.ts";
export type { WorkflowDefinition, WorkflowHooks } from "./workflow-definition.ts";
export type { CompensationFailure, WorkflowResult, WorkflowStatus } from "./workflow-result.ts";

// No hooks. Routes: GET /workflow-runs/:id, with a journal.

/** Options of `workflows`. */
export interface WorkflowsOptions {
  /** Workflows that are run with `runWorkflow`; those of actions are known by themselves. @default none */
  readonly workflows?: readonly (WorkflowDefinition | WorkflowBuilder<never>)[] | undefined;
  /**
   * Whether runs are kept in the app's database, and how. Without a journal a run lives as long as its process.
   * @default false
   */
  readonly journal?: boolean | JournalOptions | undefined;
  /** Whether the journal encrypts what runs carry; needs `encryption` of the app. @default false */
  readonly encrypted?: boolean | undefined;
  /** Another engine. @default one with a journal, or in memory */
  readonly engine?: WorkflowEngine | undefined;
}

/** Service: a `WorkflowRunner`, for actions. */
const RUNNER_SERVICE = "workflows.runner";

/** Workflows of actions, and of code through `runWorkflow`. */
export function workflows(options: WorkflowsOptions = {}): Plugin {
  const { journal = false, encrypted = false } = options;
  const engine =
    options.engine ?? (journal === false ? memoryEngine() : journalEngine(journal === true ? {} : journal));
  const keepsJournal = engine.usesJournal === true;
  const known = new Map<string, WorkflowDefinition>();
  return createPlugin({
    id: "workflows",
    version: "1.0.0",
    ...(keepsJournal ? { schema: schemaFromEntities([...journalEntities(encrypted)], { internal: true }) } : {}),
    setup(context) {
      if (keepsJournal && !encrypted && holdEncrypted(context.entities.entities))
        context.problem("fields are encrypted, so the journal has to be, too: workflows({ encrypted: true })");
      registerWorkflows(context, options.workflows ?? [], known);
      context.services.register(RUNNER_SERVICE, () => runnerOf(engine, known, engine.name !== "memory"));
      context.services.register(ENGINE_SERVICE, () => appWorkflows(engine));
      if (keepsJournal) addReportRoute(context, engine);
    },
    start: ({ log, entities, runAs, clientFor }) => engine.start({ log, entities, workflows: known, runAs, clientFor }),
    stop: () => engine.stop(),
  });
}

/** An action's workflow, as its definition holds it. */
interface Attached {
  readonly steps: WorkflowLike;
  readonly options?: Partial<Omit<WorkflowDefinition, "name" | "steps">> | undefined;
}

/** The workflow of an attached action, if it has one. */
function attachedTo(action: unknown): Attached | undefined {
  const { definition = action } = (action ?? {}) as { readonly definition?: unknown };
  return (definition as { readonly workflow?: Attached } | null | undefined)?.workflow;
}

/** Whether any action of these entities is a workflow. */
export function haveWorkflows(entities: readonly AnyEntity[]): boolean {
  return entities.some(({ actions }) => Object.values(actions).some((action) => attachedTo(action) !== undefined));
}

/** Whether what runs carry may come from an encrypted field. */
function holdEncrypted(entities: readonly AnyEntity[]): boolean {
  return entities.some(({ fields }) => Object.values(fields).some(({ encrypted }) => encrypted !== undefined));
}

function registerWorkflows(
  { entities, problem }: PluginContext,
  given: NonNullable<WorkflowsOptions["workflows"]>,
  known: Map<string, WorkflowDefinition>,
): void {
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
      const attached = attachedTo(action);
      if (attached === undefined) continue;
      const own = `${entity.name}.${name}`;
      add(`action "${name}" of ${entity.name}`, () =>
        checkedWorkflow({ ...toWorkflow(attached.steps as readonly StepLike[]), ...attached.options, name: own }),
      );
    }
}

function appWorkflows(engine: WorkflowEngine): AppWorkflows {
  return {
    begin: (workflow, caller, { input, data, runId }) => engine.run({ workflow, caller, input, data, runId }),
  };
}

function runnerOf(
  engine: WorkflowEngine,
  known: ReadonlyMap<string, WorkflowDefinition>,
  isRemembered: boolean,
): WorkflowRunner {
  return {
    async run(action, input, data, scope) {
      const workflow = known.get(action) as WorkflowDefinition;
      const handle = await engine.run({ workflow, input, data, caller: callerOf(scope, null) });
      const result = handle.result.then((ended) => answerOf(workflow, ended));
      result.catch(() => {}); // whoever does not wait hears of it in the log, or asks for the run
      return { runId: handle.runId, result, isRemembered };
    },
  };
}

/** What the last step gave, or what to throw: an error of ours keeps its status, where everything was taken back. */
function answerOf({ steps }: WorkflowDefinition, ended: WorkflowResult): unknown {
  const { success, results, error, failedStep = "", compensatedSteps, status, metadata } = ended;
  if (success) return results[steps.at(-1)?.name as string];
  if (isKeelsonError(error) && error.status < 500 && status === "compensated") throw error;
  throw new WorkflowFailedError({ failedStep, compensatedSteps, runId: metadata.id }, undefined, { cause: error });
}

/** `GET /workflow-runs/:id`, for whom it works and for administrators; for others there is no such run. */
function addReportRoute({ entities, routes }: PluginContext, engine: WorkflowEngine): void {
  routes.add({
    method: "GET",
    path: "/workflow-runs/:id",
    entity: entities.get(RUN) as AnyEntity,
    action: "workflow-run",
    rules: ["authenticated"],
    handler: ({ params, scope }: RouteContext) => reportTo(engine, params.id as string, scope),
  });
}

async function reportTo(engine: WorkflowEngine, runId: string, scope: RouteContext["scope"]): Promise<unknown> {
  const { user, isAdmin } = scope.principal;
  const report = runId.length > scope.limits.idLength ? undefined : await engine.report(runId);
  const isTheirs = report !== undefined && report.userId !== null && report.userId === user?.id;
  if (report === undefined || !(isTheirs || isAdmin)) throw new EntityNotFoundError();
  const { userId: _, ...shown } = report;
  return shown;
}
