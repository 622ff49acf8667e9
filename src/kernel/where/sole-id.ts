import type { Condition } from "./condition.ts";

/** The one id that a condition asks for, or undefined when it could hold for several records. */
export function soleId(condition: Condition): string | undefined {
  if (condition.kind === "and") return condition.parts.map(soleId).find((id) => id !== undefined);
  if (condition.kind !== "compare" || condition.negated || condition.operator !== "eq") return undefined;
  return condition.column.role === "id" ? (condition.value as string) : undefined;
}
