import type { Provider } from "../../../entity/index.ts";
import type { Compare } from "../../../gate/index.ts";

/** The signs of comparisons; those without one are searches. */
export const SIGNS: Readonly<Partial<Record<Compare["test"], string>>> = {
  eq: "=",
  gt: ">",
  gte: ">=",
  lt: "<",
  lte: "<=",
};

/** Text between wildcards; the escape character is what `LIKE` has in `buildCondition`. */
const PATTERNS: Readonly<Record<string, (text: string) => string>> = {
  like: (text) => `%${text}%`,
  starts: (text) => `${text}%`,
  ends: (text) => `%${text}`,
};

/** The pattern of `LIKE` for a search; undefined for another comparison. */
export function patternOf({ test, value }: Compare, provider: Provider): string | undefined {
  const pattern = PATTERNS[test];
  if (pattern === undefined) return undefined;
  const text = value as string;
  return pattern(provider === "postgresql" ? text.replace(/[\\%_]/g, "\\$&") : text.replace(/[!%_]/g, "!$&"));
}
