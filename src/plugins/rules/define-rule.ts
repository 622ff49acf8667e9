import { ConfigurationError } from "../../entity/index.ts";
import { BUILT_IN_RULES } from "./built-in-rules.ts";
import type { Rule, RuleFunction, RuleOptions } from "./rule.ts";

/** No brackets and commas: they are the syntax of `all(a,b)`. */
const NAME = /^[^\s(),](?:[^(),]*[^\s(),])?$/;

/**
 * Every rule that was ever defined, so that an entity can refer to it by name. It holds definitions, never decisions:
 * apps share nothing but the names, and two rules of one name are nobody's until an app says which one it means.
 */
const defined = new Map<string, Rule | "ambiguous">();

/**
 * Defines a rule. `fn({ user, isAdmin, record, operation, entity, driver, resolve, request })` returns `true` (passes), a
 * `where` (passes for the records it matches; not empty) or anything else (denied), at once or as a promise within one
 * second (`limits.ruleMs`). A rule that throws denies, and is logged.
 *
 * On lists and counts `record` is `null`. A rule that looks at it has to return a `where`, or take `options.where`;
 * otherwise it denies the list. `options.where` is asked instead of `fn` on everything but create and endpoints, so that
 * the statement itself decides and no record is loaded first.
 *
 * A definition that is given the rule itself means this rule. By its name it is known to every app of the process; when
 * two rules are defined under one name, an app that uses the name must be given the one it means:
 * `keelson({ rules: [mine] })`.
 *
 * @param name any text without brackets and commas; not one of the built-in names
 * @throws ConfigurationError for a name that cannot be used, or a rule that is no function
 * @example
 * const teamMember = defineRule("teamMember", ({ user }) => (user ? { team: { members: { id: user.id } } } : false))
 */
export function defineRule(name: string, fn: RuleFunction, options: RuleOptions = {}): Rule {
  if (typeof name !== "string" || !NAME.test(name))
    throw new ConfigurationError("defineRule needs a name without brackets and commas");
  if (BUILT_IN_RULES.has(name))
    throw new ConfigurationError(`defineRule: "${name}" is a built-in rule; use another name`);
  if (typeof fn !== "function") throw new ConfigurationError(`defineRule("${name}") needs a function`);
  if (options.where !== undefined && typeof options.where !== "function")
    throw new ConfigurationError(`defineRule("${name}"): options.where must be a function that returns a where`);
  const rule: Rule = Object.freeze({ name, evaluate: fn, where: options.where, check: options.check });
  defined.set(name, defined.has(name) ? "ambiguous" : rule);
  return rule;
}

/** The one rule defined under a name, or "ambiguous" when there are several. */
export function findDefinedRule(name: string): Rule | "ambiguous" | undefined {
  return defined.get(name);
}

/** All names that rules were defined under. */
export function definedRuleNames(): Iterable<string> {
  return defined.keys();
}
