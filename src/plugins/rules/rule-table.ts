import type { AnyEntity } from "../../entity/index.ts";
import { didYouMean } from "../../kernel/index.ts";
import { BUILT_IN_RULES, definedRules, type Rule } from "./rule.ts";

/** The most rules that an error lists if no name is similar. */
const MAX_NAMED = 12;

type Found = { readonly rule: Rule } | { readonly problem: string; readonly isAmbiguous?: true };

/** Finds the rule of a name. */
export interface RuleTable {
  /** @param entity the entity that uses the name; rules that it holds itself come first */
  find(name: string, entity: AnyEntity | undefined): Found;
}

/**
 * The rules of one app: rules that an entity holds itself, rules of the app's options, built-in rules, and rules whose
 * name was defined only once. Built-in names cannot be redefined. Invalid options are reported.
 */
export function createRuleTable(given: readonly Rule[], problem: (sentence: string) => void): RuleTable {
  const own = new Map<string, Rule>();
  for (const rule of given) {
    if (typeof rule?.name !== "string" || !isRule(rule))
      problem("rules: something in the list is not a rule; make one with defineRule(name, fn)");
    else if (isImpostor(rule)) problem(`rules: ${takenBy(rule.name)}`);
    else if (own.has(rule.name) && own.get(rule.name) !== rule)
      problem(`rules: two different rules are called "${rule.name}"`);
    else if (!BUILT_IN_RULES.has(rule.name)) own.set(rule.name, rule);
  }
  return Object.freeze({
    find(name: string, entity: AnyEntity | undefined): Found {
      const held = entity && Object.hasOwn(entity.ruleObjects, name) ? entity.ruleObjects[name] : undefined;
      if (isRule(held)) return isImpostor(held) ? { problem: takenBy(name) } : { rule: held };
      const rule = own.get(name) ?? BUILT_IN_RULES.get(name) ?? definedRules.get(name);
      if (rule === undefined) {
        const ofEntity = Object.keys(entity?.ruleObjects ?? {});
        const names = new Set([...BUILT_IN_RULES.keys(), ...ofEntity, ...own.keys(), ...definedRules.keys()]);
        const known = [...names].filter((other) => other !== name);
        const nearest = didYouMean(name, known) || ` There are: ${known.slice(0, MAX_NAMED).join(", ")}`;
        return { problem: `there is no rule "${name}".${nearest}` };
      }
      if (rule === "ambiguous")
        return {
          isAmbiguous: true,
          problem: `several rules were defined as "${name}"; give the rule itself instead of its name, or say which one is meant with \`rules: [...]\``,
        };
      return { rule };
    },
  });
}

/** Whether a value is a rule. */
function isRule(rule: unknown): rule is Rule {
  return typeof (rule as Partial<Rule> | null | undefined)?.evaluate === "function";
}

/** Whether a rule has the name of a built-in rule, but is another one. */
function isImpostor(rule: Rule): boolean {
  return BUILT_IN_RULES.has(rule.name) && BUILT_IN_RULES.get(rule.name) !== rule;
}

function takenBy(name: string): string {
  return `"${name}" is a built-in rule; use another name`;
}
