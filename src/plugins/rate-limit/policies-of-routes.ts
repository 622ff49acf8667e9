import { ConfigurationError } from "../../entity/index.ts";
import type { Route, RouteDescription } from "../../gate/index.ts";
import type { RateLimitPolicy, RateLimitRoutes } from "./rate-limit-options.ts";

/** The policies of a route: those checked before the caller is known, and those checked after. */
export interface RoutePolicies {
  readonly byAddress: readonly KeyedPolicy[];
  readonly byCaller: readonly KeyedPolicy[];
}

/** A policy at one route. */
export interface KeyedPolicy {
  readonly policy: RateLimitPolicy;
  /** What the keys of this quota begin with. */
  readonly quota: string;
}

/**
 * Which policies a request to a route counts for.
 * @throws ConfigurationError for policies that no route fits: they would limit nothing
 */
export function policiesOfRoutes(
  policies: readonly RateLimitPolicy[],
  routes: readonly Route[],
): ReadonlyMap<Route, RoutePolicies> {
  const idle = policies.filter((policy) => !routes.some((route) => appliesTo(policy, route)));
  if (idle.length > 0)
    throw new ConfigurationError(
      idle.map(
        ({ name }) => `rate-limit: policy "${name}" fits no route; \`keelson routes\` lists entities and actions`,
      ),
    );
  return new Map(
    routes.flatMap((route) => {
      const keyed = policies
        .filter((policy) => appliesTo(policy, route))
        .map((policy): KeyedPolicy => ({ policy, quota: quotaOf(policy, route) }));
      const isByAddress = ({ policy }: KeyedPolicy): boolean => policy.by === "address";
      const split = { byAddress: keyed.filter(isByAddress), byCaller: keyed.filter((one) => !isByAddress(one)) };
      return keyed.length === 0 ? [] : [[route, split]];
    }),
  );
}

function quotaOf({ name, each = "policy" }: RateLimitPolicy, { entity, method, path, action }: Route): string {
  if (each === "policy") return name;
  const prefix = entity === undefined ? "endpoint" : entity.name;
  // Names and paths have no colon where it could be mistaken: what follows the quota in a key is the caller.
  return each === "entity" ? `${name}:${prefix}` : `${name}:${prefix}.${action} ${method} ${path}`;
}

/** One word, or several. */
function listOf(value: string | readonly string[] | undefined): readonly string[] | undefined {
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
  const isAction = namesOf(route).some((name) => has(action, name));
  return has(entity, route.entity?.name) && isAction && has(methods, route.method);
}

/** What a request to a route may turn out to do: an upsert creates a record, or changes one. */
function namesOf({ action }: Route): readonly string[] {
  return action === "upsert" ? [action, "create", "update"] : [action];
}

/** What documentation says about the limits of a route. */
export function noteOf(
  policies: readonly RateLimitPolicy[],
): (route: Route) => Pick<RouteDescription, "errors"> | undefined {
  return (route) => (policies.some((policy) => appliesTo(policy, route)) ? { errors: [429] } : undefined);
}
