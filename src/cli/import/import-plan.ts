import type { ChosenId } from "./choose-id.ts";
import type { TableShape } from "./database-shape.ts";

/** The code of a field or relation. */
export interface MemberPlan {
  readonly name: string;
  readonly code: string;
}

/** The code of an entity. */
export interface EntityPlan {
  readonly name: string;
  readonly table: TableShape;
  readonly members: MemberPlan[];
  /** Calls after `entity(…)`, without the leading dots. */
  readonly calls: string[];
  /** Names to import from the package. */
  readonly constructors: Set<string>;
  /** The entities that its relations refer to. */
  readonly related: Set<string>;
}

export interface ImportPlan {
  readonly entities: readonly EntityPlan[];
  /** The omitted objects, one sentence each. */
  readonly missing: readonly string[];
  /** The numbers of objects in the database, and of those that the entities express. */
  readonly counts: Readonly<
    Record<"tables" | "columns" | "keys" | "uniques" | "indexes" | "references" | "others", Count>
  >;
}

export interface Count {
  readonly found: number;
  readonly said: number;
}

/** An entity under construction. */
export interface Draft extends EntityPlan {
  readonly id: Exclude<ChosenId, { readonly why: string }>;
  /** Used names: of members, and those that they reserve. */
  readonly taken: Set<string>;
  /** The names of fields and keys, by column. */
  readonly names: Map<string, string>;
}
