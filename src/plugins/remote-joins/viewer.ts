import type { AnyEntity, ResolvedRelation } from "../../entity/index.ts";
import type { IncludeTree, Row } from "../../gate/index.ts";

/** What a caller may see of the records of an entity. */
export interface Rights {
  /** Columns that they may read, and those that decide about it; never hidden ones. */
  readonly columns: readonly string[];
  /**
   * Whether they may see a record. It is tagged then, and what it shows them is noted on it, so that it is masked on its
   * way out like any other.
   */
  admit(record: Row): boolean | Promise<boolean>;
}

/** On whose behalf records are joined. */
export interface Viewer {
  /** Undefined when no record of the entity is for them. */
  rightsOn(entity: AnyEntity): Promise<Rights | undefined>;
  /** Whether they may see which records are related. */
  sees(relation: ResolvedRelation): boolean;
  /**
   * Whether the target of a fetched record's key is fetched from here, and not from the service that returned the
   * record.
   */
  joins(relation: ResolvedRelation): boolean;
  /** Records of the app's own database that they may see, with what is included in these in turn. */
  list(entity: AnyEntity, ids: readonly string[], inner: IncludeTree): Promise<readonly Row[]>;
}
