import { and, type Compare, type Condition } from "../../../gate/index.ts";

/** A condition taken apart into the one id it asks for and all else. */
export interface ById {
  readonly id: string;
  readonly rest: Condition;
}

function isId(condition: Condition): condition is Compare {
  if (condition.op !== "compare" || condition.test !== "eq") return false;
  return condition.column.role === "id" && condition.value !== null;
}

/** Undefined when a condition asks for more or less than one id. */
export function byId(condition: Condition): ById | undefined {
  const parts = condition.op === "and" ? condition.of : [condition];
  const ids = parts.filter(isId);
  if (ids.length !== 1) return undefined;
  return { id: ids[0]?.value as string, rest: and(parts.filter((part) => !isId(part))) };
}
