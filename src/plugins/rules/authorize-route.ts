import type { Route, RouteAuthorization } from "../../gate/index.ts";
import type { Logger } from "../../kernel/index.ts";
import { compileName } from "./compile-plans.ts";
import type { Ask, Outcome, Subject } from "./outcome.ts";
import type { RuleTable } from "./rule-table.ts";

/**
 * Decides whether a caller may use an endpoint. There is no record, so only rules that pass without one do: not
 * `owner`, and no rule that answers with a `where`. A rule nobody knows is logged and denies.
 */
export function createRouteAuthorizer(
  table: RuleTable,
  log: Logger,
): (payload: RouteAuthorization) => void | Promise<void> {
  const compiled = new WeakMap<Route, readonly Ask[]>();

  function asksOf({ route, rules }: RouteAuthorization): readonly Ask[] {
    const known = compiled.get(route);
    if (known !== undefined) return known;
    const ofRoute: RuleTable = { find: (name) => table.find(name, route.entity) };
    const asks = rules.map((name) =>
      compileName(name, ofRoute, undefined, (sentence) =>
        log.error(`Endpoint ${route.method} ${route.path} denies: ${sentence}`, {
          plugin: route.plugin,
          action: route.action,
        }),
      ),
    );
    compiled.set(route, asks);
    return asks;
  }

  return (payload) => {
    const { scope, route } = payload;
    const subject: Subject = { kind: "route", entity: route.entity, principal: scope.principal, scope };
    const asks = asksOf(payload);
    for (let i = 0; i < asks.length; i++) {
      const outcome = (asks[i] as Ask)(subject);
      if (outcome instanceof Promise) return authorizeRest(payload, asks, subject, outcome, i + 1);
      if (outcome !== true) continue;
      payload.allowed = true;
      return;
    }
  };
}

async function authorizeRest(
  payload: RouteAuthorization,
  asks: readonly Ask[],
  subject: Subject,
  first: Promise<Outcome>,
  next: number,
): Promise<void> {
  let passed = (await first) === true;
  for (let i = next; !passed && i < asks.length; i++) passed = (await (asks[i] as Ask)(subject)) === true;
  payload.allowed = passed;
}
