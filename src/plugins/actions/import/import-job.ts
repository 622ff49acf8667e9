import type { AnyEntity } from "../../../entity/index.ts";
import type { OperationScope } from "../../../gate/index.ts";
import type { UniqueKey, UniqueKeys } from "./import-keys.ts";
import type { ImportTally } from "./import-tally.ts";

/** One run of an import. */
export interface ImportJob {
  readonly scope: OperationScope;
  readonly entity: AnyEntity;
  /** Rules in place of the entity's. */
  readonly rules: readonly string[] | undefined;
  /** Rows of one transaction at most. */
  readonly batch: number;
  /** Fields by which a row finds the record that it changes; undefined when all rows are new. */
  readonly upsertBy: UniqueKey | undefined;
  readonly dryRun: boolean;
  readonly unique: UniqueKeys;
  readonly tally: ImportTally;
  /** Unique values of records that a dry run has taken back, one text each. */
  readonly takenBack: Set<string>;
}
