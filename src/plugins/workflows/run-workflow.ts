import { type AppWorkflows, ENGINE_SERVICE } from "./app-workflows.ts";
import { toWorkflow, type WorkflowLike } from "./definition/workflow-builder.ts";
import type { WorkflowResult } from "./definition/workflow-result.ts";
import type { RunOptions } from "./execute-options.ts";
import { executeWorkflow } from "./execute-workflow.ts";
import { refuseInTransaction } from "./refuse-in-transaction.ts";

/**
 * Runs a workflow on the app's engine: with a journal, the run continues after a crash. A list of steps has no name to
 * be found by, so it runs in memory. Without an app this is `executeWorkflow`.
 * @param context the context of a handler, or `{ resolve: api.resolve, user, input }`
 * @returns how it ended; a step that fails does not throw
 * @throws ConfigurationError within a transaction, and for a named workflow that the app could not find again after a restart;
 *   BadRequestError for an invalid `runId`; ConflictError for one that is taken; UnavailableError when the run goes on
 *   elsewhere, or later
 */
export async function runWorkflow(workflow: WorkflowLike, context: RunOptions): Promise<WorkflowResult> {
  const { scope } = context;
  const resolve = context.resolve ?? (scope && ((service: string) => scope.services.resolve(service)));
  if (resolve === undefined) return executeWorkflow(workflow, context);
  const definition = toWorkflow(workflow);
  refuseInTransaction(definition.name, scope);
  const app = resolve(ENGINE_SERVICE) as AppWorkflows;
  const handle = await app.begin(definition, context);
  return handle.result;
}
