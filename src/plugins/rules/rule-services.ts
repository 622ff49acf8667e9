import type { AnyEntity } from "../../entity/index.ts";
import type { FieldRules, PluginContext, Route, RouteAuthorization, RuleLists } from "../../gate/index.ts";
import type { Logger } from "../../kernel/index.ts";
import type { Ask } from "./ask-rule.ts";
import { type AccessPlan, askAny, compileName, compilePlan } from "./decide.ts";
import type { RuleTable } from "./rule-table.ts";

/** The service for rules of single fields. */
export function createFieldRules({ problem }: PluginContext, table: RuleTable): FieldRules {
  return Object.freeze<FieldRules>({
    compile(names, entity, at) {
      const asks = names.map((name) => compileName(name, table, entity, (sentence) => problem(`${at}: ${sentence}`)));
      return (question) => askAny(asks, question);
    },
  });
}

/** Lists of rules that operations carry. */
interface CompiledLists extends RuleLists {
  /** The plan of a list, compiled on first use. An unknown rule denies, and is logged. */
  planOf(names: readonly string[], entity: AnyEntity): AccessPlan;
}

export function createRuleLists({ problem, log }: PluginContext, table: RuleTable): CompiledLists {
  const plans = new WeakMap<readonly string[], Map<AnyEntity, AccessPlan>>();

  function plan(names: readonly string[], entity: AnyEntity, report: (sentence: string) => void): AccessPlan {
    const ofList = plans.get(names) ?? new Map<AnyEntity, AccessPlan>();
    plans.set(names, ofList);
    const made = ofList.get(entity) ?? compilePlan(names, table, entity, report);
    ofList.set(entity, made);
    return made;
  }

  return Object.freeze<CompiledLists>({
    compile: (names, entity, at) => void plan(names, entity, (sentence) => problem(`${at}: ${sentence}`)),
    planOf: (names, entity) =>
      plan(names, entity, (sentence) => log.error(`Rules of an operation deny: ${sentence}`, { entity: entity.name })),
  });
}

/** Rules of endpoints. */
export interface RouteRules {
  /** Checks the rules of a route. @param report takes a sentence about each unknown rule */
  check(route: Route, report: (sentence: string) => void): void;
  /** Decides whether a caller may use a route. */
  authorize(payload: RouteAuthorization): void | Promise<void>;
}

/**
 * Decides whether callers may use endpoints. Without a record only some rules can pass: not `owner`, and not rules that
 * return a `where`. An unknown rule denies. So does an ambiguous name, which is logged with the first request.
 */
export function createRouteRules(table: RuleTable, log: Logger): RouteRules {
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

  return {
    check(route, report) {
      const reporting: RuleTable = {
        find(name) {
          const found = table.find(name, route.entity);
          if ("problem" in found && found.isAmbiguous !== true) report(found.problem);
          return found;
        },
      };
      for (const name of route.rules ?? []) compileName(name, reporting, undefined, () => {}); // reported above
    },
    authorize(payload) {
      const { scope, route } = payload;
      const allow = (answer: unknown): void => {
        if (answer === true) payload.allowed = true;
      };
      const answer = askAny(asksOf(payload), {
        kind: "route",
        entity: route.entity,
        principal: scope.principal,
        scope,
      });
      return answer instanceof Promise ? answer.then(allow) : allow(answer);
    },
  };
}
