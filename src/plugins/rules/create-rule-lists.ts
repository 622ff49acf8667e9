import type { AnyEntity } from "../../entity/index.ts";
import type { PluginContext, RuleLists } from "../../gate/index.ts";
import { compilePlan } from "./compile-plans.ts";
import type { AccessPlan } from "./decide.ts";
import type { RuleTable } from "./rule-table.ts";

/** Lists of rules that operations bring along. */
export interface CompiledLists extends RuleLists {
  /** The plan of a list; one that nobody made ready is made so now. A rule nobody knows denies, and is logged. */
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
