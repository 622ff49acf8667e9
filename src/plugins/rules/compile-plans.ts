import { type Access, type AnyEntity, ruleName } from "../../entity/index.ts";
import { didYouMean, type PluginContext } from "../../kernel/index.ts";
import { partsOfAll } from "./all.ts";
import { BUILT_IN_RULES, everyone } from "./built-in-rules.ts";
import { compileRule } from "./compile-rule.ts";
import { type AccessPlan, askAll } from "./decide.ts";
import type { Ask } from "./outcome.ts";
import type { RuleTable } from "./rule-table.ts";

const ACCESSES: readonly Access[] = ["create", "read", "update", "delete"];

/** The plans of one entity. */
export type EntityPlans = Readonly<Record<Access, AccessPlan>>;

/** Makes the rules of all entities ready, and reports those that cannot work. */
export function compilePlans(
  { entities, config, problem }: PluginContext,
  table: RuleTable,
): ReadonlyMap<AnyEntity, EntityPlans> {
  for (const key of Object.keys(config.defaultRules))
    if (!ACCESSES.includes(key as Access))
      problem(`defaultRules: there is no access "${key}", only ${ACCESSES.join(", ")}.${didYouMean(key, ACCESSES)}`);
  const compile = (entity: AnyEntity, accesses: readonly Access[]): [AnyEntity, EntityPlans] => {
    const plans = ACCESSES.map((access) => {
      // Default rules are for entities that say nothing; a key that is missing denies (public-api.md, "Rules").
      const rules = entity.rules === undefined ? config.defaultRules : entity.rules;
      const names = accesses.includes(access) ? (rules[access] ?? []).map(ruleName) : [];
      const at =
        entity.rules === undefined ? `${entity.name} (defaultRules.${access})` : `${entity.name}.rules.${access}`;
      return [access, compilePlan(names, table, entity, (sentence) => problem(`${at}: ${sentence}`))];
    });
    return [entity, Object.freeze(Object.fromEntries(plans)) as EntityPlans];
  };
  return new Map([
    ...entities.entities.map((entity) => compile(entity, ACCESSES)),
    // Nobody here writes what another service keeps, so its rules for that need not be known.
    ...entities.foreign.map((entity) => compile(entity, ["read"])),
  ]);
}

/** Makes a list of rules ready. */
export function compilePlan(
  names: readonly string[],
  table: RuleTable,
  entity: AnyEntity,
  problem: (sentence: string) => void,
): AccessPlan {
  const compiled = names.map((name) => [name, compileName(name, table, entity, problem)] as const);
  // Built-in rules cost nothing, so they are asked before those that may ask a database.
  const cheapFirst = [
    ...compiled.filter(([name]) => BUILT_IN_RULES.has(name)),
    ...compiled.filter(([name]) => !BUILT_IN_RULES.has(name)),
  ];
  return Object.freeze({
    names: Object.freeze(names),
    open: names.includes(everyone.name),
    asks: cheapFirst.map(([, ask]) => ask),
  });
}

/** Makes the rule of a name ready. One that is unknown is reported, and denies. */
export function compileName(
  name: string,
  table: RuleTable,
  entity: AnyEntity | undefined,
  problem: (sentence: string) => void,
): Ask {
  const parts = partsOfAll(name);
  if (parts !== undefined) return askAll(parts.map((part) => compileName(part, table, entity, problem)));
  const found = table.find(name, entity);
  if ("problem" in found) {
    problem(found.problem);
    return () => false;
  }
  const reason = entity && found.rule.check?.(entity);
  if (reason !== undefined) problem(`rule "${name}" cannot work here: ${reason}`);
  return compileRule(found.rule);
}
