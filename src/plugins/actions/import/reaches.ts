import type { AnyEntity } from "../../../entity/index.ts";
import type { Condition } from "../../../kernel/index.ts";

/** Whether a condition on other records looks at records of an entity, through whatever relations. */
export function reaches(condition: Condition, entity: AnyEntity): boolean {
  if (condition.kind === "related") return condition.relation.target === entity || reaches(condition.where, entity);
  return "parts" in condition && condition.parts.some((part) => reaches(part, entity));
}
