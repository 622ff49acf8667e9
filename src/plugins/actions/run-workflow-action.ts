import { Reply, type WorkflowRunner } from "../../kernel/index.ts";
import type { ActionContext } from "./action-context.ts";

/** `Prefer: respond-async` (RFC 7240): an answer before the work is done. */
const ASYNC = /(?:^|,)\s*respond-async\s*(?:[,;]|$)/i;

/** The handler of an action that is a workflow. */
export async function runWorkflowAction(context: ActionContext): Promise<unknown> {
  const { entity, action, input, params, query, scope, headers, root, resolve } = context;
  const runner = resolve<WorkflowRunner>("workflows.runner");
  const { runId, result, isRemembered } = await runner.run(`${entity.name}.${action}`, input, { params, query }, scope);
  if (!isRemembered || !ASYNC.test(headers.get("prefer") ?? "")) return result;
  const location = `${root}/workflow-runs/${runId}`;
  return new Reply(202, { runId, status: "running", location }, { location, "preference-applied": "respond-async" });
}
