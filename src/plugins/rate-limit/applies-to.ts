import type { Route } from "../../gate/index.ts";
import type { RateLimitPolicy, RateLimitRoutes } from "./rate-limit-options.ts";

/** One word, or several. */
export function listOf(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === "string" ? [value] : value;
}

/**
 * Whether requests to a route count. Probes do not: an orchestrator that is refused would take the app for dead, and they
 * cost next to nothing.
 */
export function appliesTo({ for: routes = {} }: Pick<RateLimitPolicy, "for">, route: Route): boolean {
  return route.early !== true && route.plugin !== "health" && fits(routes, route);
}

function fits({ entity, action, method }: RateLimitRoutes, route: Route): boolean {
  const has = (wanted: string | readonly string[] | undefined, value: string | undefined): boolean =>
    wanted === undefined || (value !== undefined && listOf(wanted)?.includes(value) === true);
  const methods = listOf(method)?.map((name) => name.toUpperCase());
  return has(entity, route.entity?.name) && has(action, route.action) && has(methods, route.method);
}
