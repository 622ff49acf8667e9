import type { ChosenId } from "./choose-id.ts";
import type { TableShape } from "./database-shape.ts";

/** One field or relation of an entity, as it is written. */
export interface MemberPlan {
  readonly name: string;
  readonly code: string;
}

/** An entity as it is written. */
export interface EntityPlan {
  readonly name: string;
  readonly table: TableShape;
  readonly members: MemberPlan[];
  /** Calls after `entity(…)`, without the leading dots. */
  readonly calls: string[];
  /** Names to import from the package. */
  readonly constructors: Set<string>;
  /** Entities that its relations lead to. */
  readonly related: Set<string>;
}

export interface ImportPlan {
  readonly entities: readonly EntityPlan[];
  /** What is left out, a sentence each. */
  readonly missing: readonly string[];
  /** How many there are in the database, and how many of them the entities say. */
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
  /** Names that are taken: of members, and of what they reserve. */
  readonly taken: Set<string>;
  /** Fields and keys by the column that holds them. */
  readonly names: Map<string, string>;
}
