import { didYouMean } from "../../kernel/index.ts";
import { BUILT_IN_RULES } from "./built-in-rules.ts";
import { definedRuleNames, findDefinedRule } from "./define-rule.ts";
import type { Rule } from "./rule.ts";

/** Which rule an app means by a name. */
export interface RuleTable {
  find(name: string): { readonly rule: Rule } | { readonly problem: string };
}

/**
 * The rules of one app: built-in ones, those it was given, and those that were defined under a name nobody else uses.
 * Problems with what it was given are reported.
 */
export function createRuleTable(given: readonly Rule[], problem: (sentence: string) => void): RuleTable {
  const own = new Map<string, Rule>();
  for (const rule of given) {
    if (typeof rule?.name !== "string" || typeof rule.evaluate !== "function")
      problem("rules: something in the list is not a rule; make one with defineRule(name, fn)");
    else if (BUILT_IN_RULES.has(rule.name)) {
      if (BUILT_IN_RULES.get(rule.name) !== rule) problem(`rules: "${rule.name}" is a built-in rule; use another name`);
    } else if (own.has(rule.name) && own.get(rule.name) !== rule)
      problem(`rules: two different rules are called "${rule.name}"`);
    else own.set(rule.name, rule);
  }
  return Object.freeze({
    find(name: string) {
      const rule = BUILT_IN_RULES.get(name) ?? own.get(name) ?? findDefinedRule(name);
      if (rule === undefined) {
        const known = [...BUILT_IN_RULES.keys(), ...own.keys(), ...definedRuleNames()];
        return { problem: `there is no rule "${name}".${didYouMean(name, known)}` };
      }
      if (rule === "ambiguous")
        return { problem: `several rules were defined as "${name}"; say which one is meant with \`rules: [...]\`` };
      return { rule };
    },
  });
}
