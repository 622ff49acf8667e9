import type { Scope } from "../request/scope.ts";
import type { KernelRoute } from "../routes/kernel-route.ts";
import { type HookRegistry, runHooks } from "./hook-registry.ts";
import type { KernelRouteAuthorization } from "./kernel-hooks.ts";

/** Whether plugins let the caller of a scope use a route that has rules of its own. */
export async function passesRules(
  hooks: Pick<HookRegistry, "list">,
  route: KernelRoute,
  rules: readonly string[],
  scope: Scope,
): Promise<boolean> {
  const payload: KernelRouteAuthorization = { route, rules, scope, allowed: false };
  await runHooks(hooks.list("route:authorize"), payload);
  return payload.allowed;
}
