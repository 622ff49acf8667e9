import type { PluginContext, RequestConditions, RouteContext } from "../../kernel/index.ts";
import type { CompiledAction } from "./compile-action.ts";

/** Service of another plugin; without it nobody keeps what requests ask of a record. */
const REQUESTS_SERVICE = "versions.requests";

/**
 * Keeps what a request asks of the record that an action is about. Operations that change the record carry it in their
 * statements; what a handler does in other ways, or for its own sake, begins only if it is so.
 */
export function meetConditions(
  services: PluginContext["services"],
  { method, access, definition }: CompiledAction,
  context: RouteContext,
): Promise<void> | undefined {
  if (!services.has(REQUESTS_SERVICE)) return undefined;
  const conditions = services.resolve<RequestConditions>(REQUESTS_SERVICE);
  if (method !== "GET") conditions.expect(context);
  const changes = method !== "GET" && (access === "update" || access === "delete");
  return definition.authorizes === "operations" && changes ? undefined : conditions.check(context, changes);
}
