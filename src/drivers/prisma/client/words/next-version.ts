import type { Row } from "../../../../gate/index.ts";
import { countsVersion } from "../../../sql/index.ts";
import type { ClientPlan } from "./client-plan.ts";

/**
 * Changes with the next version, which the database counts in the same statement, so that no two writes share one. What
 * the changes say of the version does not matter.
 */
export function withNextVersion({ entity }: ClientPlan, changes: Row): Row {
  return countsVersion(entity, Object.keys(changes)) ? { ...changes, version: { increment: 1 } } : changes;
}
