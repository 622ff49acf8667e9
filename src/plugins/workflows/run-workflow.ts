import type { OperationScope, User } from "../../kernel/index.ts";
import type { Caller, RunHandle } from "./engine/workflow-engine.ts";
import { type ExecuteOptions, executeWorkflow } from "./execute-workflow.ts";
import { refuseInTransaction } from "./refuse-in-transaction.ts";
import { toWorkflow, type WorkflowLike } from "./workflow-builder.ts";
import type { WorkflowDefinition } from "./workflow-definition.ts";
import type { WorkflowResult } from "./workflow-result.ts";

/** What `runWorkflow` takes: the context of a handler, an app together with a user, or what `executeWorkflow` takes. */
export interface RunOptions extends Omit<ExecuteOptions, "signal"> {
  /** The caller's, where there is one: of a handler. */
  readonly scope?: OperationScope | undefined;
  /** On whose behalf, where there is no `scope`; "system" must be said. @default nobody's */
  readonly user?: User | null | undefined;
  /** Runs as the system: no rules. @default false */
  readonly asSystem?: boolean | undefined;
  /** The run's id: a second run of the same id is the first one. @default a new one */
  readonly runId?: string | undefined;
}

/** Name of the service that runs workflows of an app on its engine. */
export const ENGINE_SERVICE = "workflows.engine";

/** The service `workflows.engine`. */
export interface AppWorkflows {
  begin(workflow: WorkflowDefinition, caller: Caller, options: RunOptions): Promise<RunHandle>;
}

/**
 * Runs a workflow on the app's engine: with a journal, the run goes on after a crash. Without an app it is `executeWorkflow`.
 * @param context what a handler is given, or `{ resolve: api.resolve, user, input }`
 * @returns how it ended; a step that fails is no exception
 * @throws ConfigurationError within a transaction; BadRequestError for a `runId` that is none; ConflictError for one that is
 *   taken, and for a workflow that the app could not find again after a restart; UnavailableError when the run goes
 *   on elsewhere, or later
 */
export async function runWorkflow(workflow: WorkflowLike, context: RunOptions): Promise<WorkflowResult> {
  const { resolve, scope, user = null, asSystem = false } = context;
  if (resolve === undefined) return executeWorkflow(workflow, context);
  const definition = toWorkflow(workflow);
  refuseInTransaction(definition.name, scope);
  const caller = asSystem ? "system" : callerOf(scope, user);
  const handle = await resolve<AppWorkflows>(ENGINE_SERVICE).begin(definition, caller, context);
  return handle.result;
}

/** Whom a scope works for. */
export function callerOf(scope: OperationScope | undefined, user: User | null): Caller {
  if (scope === undefined) return user;
  return scope.principal.kind === "system" ? "system" : scope.principal.user;
}
