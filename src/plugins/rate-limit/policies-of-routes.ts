import { ConfigurationError } from "../../entity/index.ts";
import type { Route } from "../../gate/index.ts";
import { appliesTo } from "./applies-to.ts";
import type { RateLimitPolicy } from "./rate-limit-options.ts";

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
