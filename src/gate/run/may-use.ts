import { passesRules } from "../../kernel/index.ts";
import type { RouteAccess } from "../operation/operation-scope.ts";
import type { Route } from "../operation/route.ts";
import type { GateScope } from "../operation/runtime.ts";
import { decide } from "../requirement/decisions.ts";

const OPEN: RouteAccess = Object.freeze({ allowed: true, forAll: true, rules: undefined });

/** What the gate says about a route: its own rules first, then the operation that it runs, as far as that is known. */
export async function mayUse(scope: GateScope, route: Route): Promise<RouteAccess> {
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
