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
  /** The prefix of this quota's keys. */
  readonly quota: string;
}

/**
 * The policies that apply to each route.
 * @throws ConfigurationError for policies that match no route, because they would limit nothing
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
  // Names and paths contain no colon that could be ambiguous: the part of a key after the quota is the caller.
  return each === "entity" ? `${name}:${prefix}` : `${name}:${prefix}.${action} ${method} ${path}`;
}

/** Converts one word to a list. */
function listOf(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === "string" ? [value] : value;
}

/**
 * Whether requests to a route count. Probes do not: an orchestrator that gets 429 would consider the app dead, and
 * probes cost almost nothing.
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

/** The actions that a request to a route may have. An upsert may create or update a record. */
function namesOf({ action }: Route): readonly string[] {
  return action === "upsert" ? [action, "create", "update"] : [action];
}

/** The documentation of a route's limits. */
export function noteOf(
  policies: readonly RateLimitPolicy[],
): (route: Route) => Pick<RouteDescription, "errors"> | undefined {
  return (route) => (policies.some((policy) => appliesTo(policy, route)) ? { errors: [429] } : undefined);
}
