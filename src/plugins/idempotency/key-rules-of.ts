import { ConfigurationError } from "../../entity/index.ts";
import type { Route } from "../../gate/index.ts";
import { didYouMean } from "../../kernel/index.ts";
import type { IdempotencySettings } from "./idempotency-options.ts";

/** What holds for which routes. */
export interface KeyRules {
  /** Whether requests of a route may carry a key at all. */
  takes(route: Route): boolean;
  requires(route: Route): boolean;
  /** Whether the work and its key are one transaction. */
  isTransaction(route: Route): boolean;
}

/** Methods whose repetition may change something once more (RFC 9110, section 9.2.1). */
const UNSAFE: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/**
 * What the options say, by route: worked out once.
 * @throws ConfigurationError for names that no route has
 */
export function keyRulesOf(
  all: readonly Route[],
  { required, withoutTransaction }: Pick<IdempotencySettings, "required" | "withoutTransaction">,
): KeyRules {
  const routes = all.filter(({ method, early }) => UNSAFE.has(method) && early !== true);
  const problems: string[] = [];
  const named = (option: string, names: readonly string[]): ReadonlySet<Route> => {
    const known = [...UNSAFE, ...routes.map(nameOf)];
    for (const name of names)
      if (!known.includes(name))
        problems.push(`idempotency: ${option} has "${name}", and no route is called so.${didYouMean(name, known)}`);
    return new Set(routes.filter((route) => names.includes(route.method) || names.includes(nameOf(route))));
  };
  const taking = new Set(routes);
  const requiring = required === true ? taking : named("required", required);
  const apart = named("withoutTransaction", withoutTransaction);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return Object.freeze<KeyRules>({
    takes: (route) => taking.has(route),
    requires: (route) => requiring.has(route),
    isTransaction: (route) => route.transactional !== false && !apart.has(route),
  });
}

function nameOf({ entity, action }: Route): string {
  return entity === undefined ? action : `${entity.name}.${action}`;
}
