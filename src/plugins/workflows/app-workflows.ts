import { ConfigurationError } from "../../entity/index.ts";
import { defaultIds, type OperationScope } from "../../gate/index.ts";
import { BadRequestError, isUserId, type Limits, type User } from "../../kernel/index.ts";
import { UNNAMED } from "./definition/workflow-builder.ts";
import type { WorkflowDefinition } from "./definition/workflow-definition.ts";
import type { WorkflowResult } from "./definition/workflow-result.ts";
import { memoryEngine } from "./engine/memory-engine.ts";
import { runInScope } from "./engine/run-in-app.ts";
import type { Caller, EngineHost, RunHandle, WorkflowEngine } from "./engine/workflow-engine.ts";
import type { ExecuteOptions, RunOptions } from "./execute-options.ts";
import { memoryJournal } from "./saga/memory-journal.ts";
import { newState } from "./saga/saga-runtime.ts";

/** Name of the service that runs workflows of an app. */
export const ENGINE_SERVICE = "workflows.engine";

/** The service `workflows.engine`: what `runWorkflow` and `executeWorkflow` use of an app. */
export interface AppWorkflows {
  /** Begins a run on the app's engine. */
  begin(workflow: WorkflowDefinition, options: RunOptions): Promise<RunHandle>;
  /** Runs a workflow in this process: in the scope of the options, or in one of its own. */
  execute(workflow: WorkflowDefinition, options: ExecuteOptions): Promise<WorkflowResult>;
}

/** The service's implementation, and the engine of workflows that a journal could not find again. */
export interface LocalWorkflows extends AppWorkflows {
  start(host: EngineHost): void;
  stop(): Promise<void>;
}

/** @param engine of workflows that the app knows by name */
export function createAppWorkflows(engine: WorkflowEngine, limits: Limits): LocalWorkflows {
  const local = memoryEngine();
  let host: EngineHost | undefined;
  return {
    begin(workflow, { scope, user = null, asSystem, input, data, runId }) {
      if (runId !== undefined && !isUserId(runId, limits))
        throw new BadRequestError(`A runId is a text of 1 to ${limits.idLength} characters`);
      // A list of steps has no name by which a run could be taken up after a restart.
      const isList = workflow.name === UNNAMED && host?.workflows.get(UNNAMED) !== workflow;
      const caller = asSystem === true ? "system" : callerOf(scope, user);
      return (isList ? local : engine).run({ workflow, caller, input, data, runId });
    },
    async execute(workflow, options) {
      const { scope, user = null, asSystem, input, data, signal, log } = options;
      refuseOtherDriver(options);
      const app = host as EngineHost;
      const state = newState({ ...workflow.data, ...data });
      const run = (own: OperationScope): Promise<WorkflowResult> => {
        const parts = { journal: memoryJournal, isDurable: false, lost: undefined, isClosing: undefined };
        const about = { runId: defaultIds.next(), input, startedAt: own.now(), signal, log: log ?? app.log };
        return runInScope(app, workflow, own, state, { ...parts, ...about });
      };
      if (scope === undefined) return app.runAs(asSystem === true ? "system" : user, run);
      return asSystem === true ? scope.asSystem(run) : run(scope);
    },
    start(given) {
      host = given;
      void local.start(given); // in memory: nothing to wait for
    },
    stop: () => local.stop(),
  };
}

/**
 * The app that a workflow is to run in, if any.
 * @throws ConfigurationError for a scope of an app without the plugin "workflows"
 */
export function appOf({ scope, resolve }: ExecuteOptions): AppWorkflows | undefined {
  if (scope !== undefined) {
    if (scope.services.has(ENGINE_SERVICE)) return scope.services.resolve<AppWorkflows>(ENGINE_SERVICE);
    throw new ConfigurationError('A workflow runs in an app that has the plugin "workflows"; add it');
  }
  try {
    const found = resolve?.<Partial<AppWorkflows> | undefined>(ENGINE_SERVICE);
    return typeof found?.execute === "function" ? (found as AppWorkflows) : undefined;
  } catch {
    return undefined; // services of something other than an app
  }
}

/**
 * The steps write through the scope, so another driver would be left out: a transaction's would wait for them, and they for it.
 * @throws ConfigurationError
 */
function refuseOtherDriver({ scope, driver }: ExecuteOptions): void {
  if (scope === undefined || driver === undefined || driver === scope.driver) return;
  throw new ConfigurationError(
    "A workflow in a handler runs on the driver of its context, so leave `driver` out; to join a transaction, pass the " +
      "context that `ctx.transaction((inner) => …)` gives",
  );
}

/** On whose behalf a scope works. */
export function callerOf(scope: OperationScope | undefined, user: User | null): Caller {
  if (scope === undefined) return user;
  return scope.principal.kind === "system" ? "system" : scope.principal.user;
}
