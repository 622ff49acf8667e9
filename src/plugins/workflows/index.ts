// Adds workflows: steps in order, compensated in reverse when one fails; in memory, or with a journal that survives a
// crash.
// Specification sections 1 (5), 1.1 and 4.3.
import { type AnyEntity, isKeelsonError } from "../../entity/index.ts";
import {
  createPlugin,
  digestOf,
  type OperationScope,
  type Plugin,
  type RecordUse,
  type ScopeState,
  schemaFromEntities,
  WorkflowRunner,
} from "../../gate/index.ts";
import { unknownKeys, WorkflowFailedError } from "../../kernel/index.ts";
import { addListRoute } from "./add-list-route.ts";
import { addReportRoute } from "./add-report-route.ts";
import type { WorkflowBuilder, WorkflowDefinition, WorkflowResult } from "./definition/workflow.ts";
import { type JournalOptions, journalEngine } from "./engine/journal-engine.ts";
import { memoryEngine } from "./engine/memory-engine.ts";
import { journalEntities } from "./engine/stored-run.ts";
import type { EngineHost, WorkflowEngine } from "./engine/workflow-engine.ts";
import { callerOf, createAppWorkflows, ENGINE_SERVICE, refuseInTransaction } from "./execute-workflow.ts";
import { joinShown, ownNotes, readableOnly } from "./readable-only.ts";
import { registerWorkflows } from "./register-workflows.ts";
import { noteRights } from "./saga/noted-rights.ts";

export type { StepContext } from "./definition/step.ts";
export {
  type RetryOptions,
  type Step,
  type StepLike,
  type StepOptions,
  step,
  withOptions,
} from "./definition/step.ts";
export type {
  WorkflowDefinition,
  WorkflowHooks,
  WorkflowResult,
  WorkflowStatus,
} from "./definition/workflow.ts";
export { WorkflowBuilder, type WorkflowLike, workflow } from "./definition/workflow.ts";
export { type JournalOptions, journalEngine } from "./engine/journal-engine.ts";
export { memoryEngine } from "./engine/memory-engine.ts";
export type { EngineHost, RunReport, WorkflowEngine } from "./engine/workflow-engine.ts";
export { createEntityStep, deleteEntityStep, updateEntityStep } from "./entity-steps/entity-steps.ts";
export type { ExecuteOptions, RunOptions } from "./execute-workflow.ts";
export { executeWorkflow, runWorkflow } from "./execute-workflow.ts";
export { haveWorkflows } from "./register-workflows.ts";

// No hooks. Routes: GET /workflow-runs and GET /workflow-runs/:id, with a journal.

/** Options of `workflows`. */
export interface WorkflowsOptions {
  /** Workflows for `runWorkflow`. Workflows of actions need not be listed. @default none */
  readonly workflows?: readonly (WorkflowDefinition | WorkflowBuilder)[] | undefined;
  /**
   * Whether runs are kept in the app's database, with optional settings. Without a journal, a run ends with its
   * process.
   * @default false
   */
  readonly journal?: boolean | JournalOptions | undefined;
  /** Whether the journal encrypts the values of runs; needs the app's `encryption`. @default false */
  readonly encrypted?: boolean | undefined;
  /**
   * Loads the current user by id when one of their runs is resumed; null compensates the run. Without it, the user has
   * the rights from when the run started, as far as they are stored as plain data.
   */
  readonly userOf?: EngineHost["userOf"];
  /** Another engine. @default the journal or memory engine */
  readonly engine?: WorkflowEngine | undefined;
}

const KNOWN: Readonly<Record<keyof WorkflowsOptions, true>> = {
  workflows: true,
  journal: true,
  encrypted: true,
  userOf: true,
  engine: true,
};

/** Service: a `WorkflowRunner`, which actions use. */

/** Runs workflows of actions, and of code through `runWorkflow`. */
export function workflows(options: WorkflowsOptions = {}): Plugin {
  const { journal = false, encrypted = false, userOf } = options;
  const makeEngine = (): WorkflowEngine =>
    options.engine ?? (journal === false ? memoryEngine() : journalEngine(journal === true ? {} : journal));
  const keepsJournal = options.engine === undefined ? journal !== false : options.engine.usesJournal === true;
  return createPlugin({
    id: "workflows",
    version: "1.0.0",
    ...(keepsJournal ? { schema: schemaFromEntities([...journalEntities(encrypted)], { internal: true }) } : {}),
    setup(context) {
      for (const sentence of unknownKeys(options, Object.keys(KNOWN))) context.problem(`workflows: ${sentence}`);
      if (keepsJournal && !encrypted && holdEncrypted(context.entities.entities))
        context.problem("fields are encrypted, so the journal has to be, too: workflows({ encrypted: true })");
      const engine = makeEngine();
      const known = new Map<string, WorkflowDefinition>();
      const outputs = registerWorkflows(context, options.workflows ?? [], known);
      context.provide(WorkflowRunner, () => runnerOf(engine, known, keepsJournal));
      const own = createAppWorkflows(engine, context.config.limits);
      context.provide(ENGINE_SERVICE, () => own);
      if (keepsJournal) {
        addListRoute(context);
        addReportRoute(context, engine, outputs);
      }
      return { engine, known, own };
    },
    start({ log, entities, runAs, clientFor }, { engine, known, own }) {
      const host = { log, entities, workflows: known, userOf, runAs, clientFor };
      own.start(host);
      return engine.start(host);
    },
    stop: async (_context, { engine, own }) => void (await Promise.all([engine.stop(), own.stop()])),
  });
}

/** Whether entities have encrypted fields, whose values runs may carry. */
function holdEncrypted(entities: readonly AnyEntity[]): boolean {
  return entities.some(({ fields }) => Object.values(fields).some(({ encrypted }) => encrypted !== undefined));
}

function runnerOf(
  engine: WorkflowEngine,
  known: ReadonlyMap<string, WorkflowDefinition>,
  isRemembered: boolean,
): WorkflowRunner {
  return {
    async run(action, input, data, scope, use) {
      const workflow = known.get(action) as WorkflowDefinition;
      refuseInTransaction(action, scope);
      const { precondition } = scope.state;
      const shown = ownNotes(scope);
      const runId = runIdOf(action, scope, use);
      if (shown !== undefined) await noteRights(scope, shown);
      const asked = { workflow, input, data, precondition, shown, runId, use };
      const handle = await engine.run({ ...asked, caller: callerOf(scope, null) });
      handle.result.catch(() => {}); // a caller that does not wait finds the failure in the log or in the run's report
      const result = async (): Promise<unknown> => {
        const ended = await handle.result;
        await joinShown(scope, ended, shown);
        return readableOnly(answerOf(workflow, ended), scope);
      };
      return { runId: handle.runId, result, isRemembered };
    },
  };
}

/** How often a request has started the runs of each action and record. */
const started = new WeakMap<ScopeState, Map<string, number>>();

/** The id by which a repeated request finds each of its runs again; undefined for a request without a key. */
function runIdOf(action: string, { state }: OperationScope, use: RecordUse | undefined): string | undefined {
  if (state.idempotencyKey === undefined) return undefined;
  const counts = started.get(state) ?? new Map<string, number>();
  started.set(state, counts);
  const about = JSON.stringify([action, use?.id]);
  const earlier = counts.get(about) ?? 0;
  counts.set(about, earlier + 1);
  return digestOf([state.idempotencyKey, about, earlier]);
}

/**
 * The result of the last step.
 * @throws the error of the run; a Keelson error keeps its status when everything was compensated
 */
function answerOf({ steps }: WorkflowDefinition, ended: WorkflowResult): unknown {
  const { success, results, error, failedStep = "", compensatedSteps, status, metadata } = ended;
  if (success) return results[steps.at(-1)?.name as string];
  if (isKeelsonError(error) && error.status < 500 && status === "compensated") throw error;
  throw new WorkflowFailedError({ failedStep, compensatedSteps, runId: metadata.id }, undefined, { cause: error });
}
