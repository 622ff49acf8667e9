import type { EntityRulesInput } from "../../entity/index.ts";

/** Options of `audit`. */
export interface AuditOptions {
  /**
   * Rules of whoever may read entries; any of them passes. They see what happened to all records, whatever the rules of
   * those say, and of each field what their field rules let them see.
   * @default none: entries have no routes
   */
  readonly read?: EntityRulesInput["read"] | undefined;
  /** Names of the entities whose changes are kept. @default all that are not internal */
  readonly entities?: readonly string[] | undefined;
  /** Names of entities to leave out of them. @default none */
  readonly except?: readonly string[] | undefined;
  /** Days after which an entry is deleted. @default never */
  readonly keepDays?: number | undefined;
}
