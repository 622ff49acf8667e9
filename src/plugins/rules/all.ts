import { ConfigurationError, type RuleObject, ruleName } from "../../entity/index.ts";

/** Several rules that must all pass, as entities refer to them. */
export interface AllOfRules extends RuleObject {
  /** `all(a,b)`; means the same when it is written out as text. */
  readonly name: string;
  readonly parts: readonly (string | RuleObject)[];
}

/**
 * Combines rules with “and”, where a plain list means “or”: `read: [admin, all(owner, verified)]`.
 * @throws ConfigurationError without rules
 */
export function all(...rules: readonly (string | RuleObject)[]): AllOfRules {
  if (rules.length === 0) throw new ConfigurationError("all() needs at least one rule");
  return Object.freeze({ name: `all(${rules.map(ruleName).join(",")})`, parts: Object.freeze([...rules]) });
}

/** The parts of a name that `all` made; undefined for any other name. */
export function partsOfAll(name: string): readonly string[] | undefined {
  if (!name.startsWith("all(") || !name.endsWith(")")) return undefined;
  const parts: string[] = [];
  let depth = 0;
  let start = 4;
  for (let i = start; i < name.length; i++) {
    const char = name[i];
    const isEnd = i === name.length - 1;
    if (isEnd || (char === "," && depth === 0)) {
      parts.push(name.slice(start, i).trim());
      start = i + 1;
    } else if (char === "(") depth++;
    else if (char === ")") depth--;
  }
  return parts;
}
