import type { WorkflowRunner } from "../../kernel/index.ts";
import { Accepted } from "./accepted.ts";
import type { ActionContext } from "./action-context.ts";

/** `Prefer: respond-async` (RFC 7240): an answer before the work is done. */
const ASYNC = /(?:^|,)\s*respond-async\s*(?:[,;]|$)/i;

/** The handler of an action that is a workflow. */
export async function runWorkflowAction(context: ActionContext): Promise<unknown> {
  const { entity, action, input, params, query, scope, headers, root, resolve } = context;
  const runner = resolve<WorkflowRunner>("workflows.runner");
  const { runId, result, isRemembered } = await runner.run(`${entity.name}.${action}`, input, { params, query }, scope);
  // The report of a run is for whoever started it: who is nobody has to wait.
  const canAsk = isRemembered && scope.principal.kind !== "anonymous";
  if (!canAsk || !ASYNC.test(headers.get("prefer") ?? "")) return result();
  const location = `${root}/workflow-runs/${runId}`;
  return new Accepted({ runId, status: "running", location }, { location, "preference-applied": "respond-async" });
}
