import type { Route, RouteDescription } from "../../gate/index.ts";
import { appliesTo } from "./applies-to.ts";
import type { RateLimitPolicy } from "./rate-limit-options.ts";

/** What documentation says about the limits of a route. */
export function noteOf(
  policies: readonly RateLimitPolicy[],
): (route: Route) => Pick<RouteDescription, "errors"> | undefined {
  return (route) => (policies.some((policy) => appliesTo(policy, route)) ? { errors: [429] } : undefined);
}
