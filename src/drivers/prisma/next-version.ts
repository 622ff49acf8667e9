import type { AnyEntity } from "../../entity/index.ts";
import type { Row } from "../../gate/index.ts";
import type { EntityPlan } from "./entity-plan.ts";

/** Whether a version counts a change of these columns: of none, and of the id alone, it does not. */
export function countsVersion({ versioned }: AnyEntity, names: readonly string[]): boolean {
  return versioned !== undefined && names.some((name) => name !== "id");
}

/**
 * Changes with the next version, which the database counts in the same statement, so that no two writes share one. What
 * the changes say of the version does not matter.
 */
export function withNextVersion({ entity }: EntityPlan, changes: Row): Row {
  return countsVersion(entity, Object.keys(changes)) ? { ...changes, version: { increment: 1 } } : changes;
}
