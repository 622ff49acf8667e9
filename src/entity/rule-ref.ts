/** A rule as definitions mention it: its name, or an object that has one. */
export type RuleRef = string | { readonly name: string } | readonly (string | { readonly name: string })[];

/** The name a rule is known by. */
export function ruleName(rule: string | { readonly name: string }): string {
  return typeof rule === "string" ? rule : rule.name;
}
