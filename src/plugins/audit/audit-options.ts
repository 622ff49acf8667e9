import type { EntityRulesInput } from "../../entity/index.ts";

/** Options of `audit`. */
export interface AuditOptions {
  /**
   * Rules for reading entries; any of them passes. Readers see the changes of all records, whatever the read rules of
   * their entities say. Of each field they see what its field rules let them see.
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
