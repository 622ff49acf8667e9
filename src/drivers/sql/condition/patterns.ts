import type { Provider } from "../../../entity/index.ts";
import type { Compare } from "../../../gate/index.ts";

/** The operators of comparisons; tests without one are searches. */
export const SIGNS: Readonly<Partial<Record<Compare["test"], string>>> = {
  eq: "=",
  gt: ">",
  gte: ">=",
  lt: "<",
  lte: "<=",
};

/** Text between wildcards; the escape character is the one that `buildCondition` uses. */
const PATTERNS: Readonly<Record<string, (text: string) => string>> = {
  like: (text) => `%${text}%`,
  starts: (text) => `${text}%`,
  ends: (text) => `%${text}`,
};

/** The `LIKE` pattern of a search; undefined for other tests. */
export function patternOf({ test, value }: Compare, provider: Provider): string | undefined {
  const pattern = PATTERNS[test];
  if (pattern === undefined) return undefined;
  const text = value as string;
  return pattern(provider === "postgresql" ? text.replace(/[\\%_]/g, "\\$&") : text.replace(/[!%_]/g, "!$&"));
}
