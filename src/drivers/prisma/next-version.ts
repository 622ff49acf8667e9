import type { Row } from "../../kernel/index.ts";
import type { EntityPlan } from "./entity-plan.ts";

/**
 * Changes with the next version, which the database counts in the same statement, so that no two writes share one. What
 * the changes say of the version does not matter; an id alone is no change.
 */
export function withNextVersion({ entity }: EntityPlan, changes: Row): Row {
  if (entity.versioned === undefined || Object.keys(changes).every((name) => name === "id")) return changes;
  return { ...changes, version: { increment: 1 } };
}
