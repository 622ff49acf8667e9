import type { RouteAuthorization } from "../hooks/hook-map.ts";
import { type HookRegistry, runHooks } from "../hooks/hook-registry.ts";
import { decide } from "../records/decisions.ts";
import type { Route } from "../routes/route.ts";
import type { RequestScope } from "./request-scope.ts";
import type { OperationScope, RouteAccess } from "./scope.ts";

const OPEN: RouteAccess = Object.freeze({ allowed: true, forAll: true, rules: undefined });

/** What the gate says about a route: its own rules first, then the operation that it runs, as far as that is known. */
export async function mayUse(scope: RequestScope, route: Route): Promise<RouteAccess> {
  const { entity, access, obeys, path, rules } = route;
  const isSystem = scope.principal.kind === "system";
  if (rules !== undefined && !isSystem && !(await passesRules(scope.runtime.hooks, route, rules, scope)))
    return { allowed: false, forAll: false, rules };
  if (entity === undefined || access === undefined)
    return rules === undefined ? { ...OPEN, forAll: false } : { ...OPEN, rules };
  const kind = access === "read" && !path.split("/").includes(":id") ? "list" : access;
  const decision = await decide(scope, { kind, access, entity, rules: obeys });
  return { allowed: decision.allowed, forAll: decision.allowed && decision.forSome !== true, rules: decision.rules };
}

/** Whether plugins let the caller of a scope use a route that has rules of its own. */
export async function passesRules(
  hooks: Pick<HookRegistry, "list">,
  route: Route,
  rules: readonly string[],
  scope: OperationScope,
): Promise<boolean> {
  const payload: RouteAuthorization = { route, rules, scope, allowed: false };
  await runHooks(hooks.list("route:authorize"), payload);
  return payload.allowed;
}
