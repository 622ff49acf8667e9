import type { Condition } from "../../kernel/index.ts";

/** The one id that a condition asks for, or undefined when it could hold for several records. */
export function idOf(condition: Condition): string | undefined {
  if (condition.kind === "and") return condition.parts.map(idOf).find((id) => id !== undefined);
  if (condition.kind !== "compare" || condition.negated || condition.operator !== "eq") return undefined;
  return condition.column.role === "id" ? (condition.value as string) : undefined;
}
