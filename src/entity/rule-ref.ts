import { ConfigurationError } from "./base/keelson-error.ts";
import type { RuleObject } from "./kinds/kind.ts";

/** A reference to a rule in a definition: its name, or an object with a name. */
export type RuleRef = string | RuleObject | readonly (string | RuleObject)[];

/**
 * Returns the name of a rule.
 * @throws ConfigurationError for a value that is not a rule, such as undefined because of an import cycle
 */
export function ruleName(rule: string | RuleObject): string {
  const name = typeof rule === "string" ? rule : (rule as RuleObject | undefined | null)?.name;
  if (typeof name === "string") return name;
  throw new ConfigurationError(
    `a rule is ${rule === undefined ? "undefined; do two files import each other?" : "neither a name nor what defineRule gives"}`,
  );
}

/** Returns the rules that are objects; for a combination, its parts. */
export function ruleObjectsOf(rules: readonly RuleRef[]): readonly RuleObject[] {
  return (rules.flat() as readonly (string | RuleObject)[]).flatMap((rule) => {
    ruleName(rule); // throws for anything but a rule
    if (typeof rule === "string") return [];
    if (rule.parts !== undefined) return ruleObjectsOf(rule.parts);
    return Object.keys(rule).length > 1 ? [rule] : [];
  });
}
