import { type GivenMetadata, type Metadata, withMetadata } from "./base/metadata.ts";
import { suggestMethods } from "./base/misspelt-methods.ts";
import type { AnyEntity } from "./entity-definition.ts";

/** The types of relations. */
export type RelationType = "belongsTo" | "hasMany" | "hasOne" | "manyToMany";
/** The modifiers of a relation that affect types. */
export type RelationFlag = "optional" | "remote";
/** The effect on a record when the record it refers to is deleted. */
export type OnDelete = "cascade" | "setNull" | "restrict";

/** A relation as passive, frozen data (spec 2.5). */
export interface RelationDefinition {
  readonly type: RelationType;
  /**
   * Returns the related entity; called only after all entities exist, so that definitions may refer to each other.
   * `null`: the same entity.
   */
  readonly target: (() => EntityLike) | null;
  readonly optional: boolean;
  /** One-to-one: the foreign key is unique. */
  readonly unique: boolean;
  /** Fetched from a service (by name, or through the default driver) instead of joined. */
  readonly remote?: { readonly service?: string | undefined };
  readonly foreignKey?: string;
  readonly onDelete?: OnDelete;
  readonly inverse?: string;
  /** The former name of the relation. */
  readonly renamedFrom?: string;
  /** belongsTo: the name of the key's column. @default the key's name */
  readonly column?: string;
  /** manyToMany: the table of its pairs. */
  readonly through?: PairTable;
  /** Metadata for plugins. */
  readonly meta?: GivenMetadata;
}

/** The table of a manyToMany relation's pairs, if it has a custom name. */
export interface PairTable {
  readonly table: string;
  /** PostgreSQL's schema. @default the connection's */
  readonly schema?: string | undefined;
  /** The column with the ids of this side. */
  readonly own: string;
  /** The column with the ids of the other side. */
  readonly other: string;
}

/** A definition, or a builder that can make one. */
export type EntityLike = AnyEntity | { build(): AnyEntity };

/** The structural type of any relation. */
export interface AnyRelation {
  readonly relation: RelationDefinition;
}

/**
 * A relation and its modifiers. `TTarget` keeps the type of the arrow function itself. TypeScript evaluates it only
 * when the target is needed, so that two entities may refer to each other without annotations.
 */
export interface Relation<
  TType extends RelationType,
  TTarget,
  F extends RelationFlag = never,
  TKey extends string = never,
> extends AnyRelation {
  /** Type-level only. */
  readonly $relation?: { readonly type: TType; readonly target: TTarget; readonly flags: F; readonly key: TKey };
  /** The related record may be absent. */
  optional(): Relation<TType, TTarget, F | "optional", TKey>;
  /** One-to-one. */
  unique(): Relation<TType, TTarget, F, TKey>;
  /** The related records belong to a service, or to the default driver when no service is named (spec 4.4). */
  remote(service?: string): Relation<TType, TTarget, F | "remote", TKey>;
  /** The name of the key's column. @default the relation's name + "Id" */
  foreignKey<const K extends string>(name: K): Relation<TType, TTarget, F, K>;
  /** The effect on this record when the related one is deleted. @default "restrict", or "setNull" when optional */
  onDelete(action: OnDelete): Relation<TType, TTarget, F, TKey>;
  /** The name of the relation on the other side, when it is ambiguous. */
  inverse(field: string): Relation<TType, TTarget, F, TKey>;
  /**
   * The former name of the relation, or of its key's column if it had its own name: the key, or the table of a
   * manyToMany relation, is renamed and keeps its values. Remove this once every database has been migrated.
   */
  renamedFrom(name: string): Relation<TType, TTarget, F, TKey>;
  /** belongsTo: the name of the key's column if it differs from the key's. */
  column(name: string): Relation<TType, TTarget, F, TKey>;
  /**
   * manyToMany: an existing table of pairs, which pushes and migrations never change, and its columns for both sides.
   * When both sides declare the relation, only one of them sets it.
   */
  through(table: string, columns: Omit<PairTable, "table">): Relation<TType, TTarget, F, TKey>;
  /** Sets a metadata value for a plugin. */
  meta<K extends keyof Metadata>(key: K, value: Metadata[K]): Relation<TType, TTarget, F, TKey>;
}

class RelationNode implements AnyRelation {
  readonly relation: RelationDefinition;

  constructor(relation: RelationDefinition) {
    this.relation = Object.freeze(relation);
    Object.freeze(this);
  }

  #with(change: Partial<RelationDefinition>): RelationNode {
    return new RelationNode({ ...this.relation, ...change });
  }
  optional(): RelationNode {
    return this.#with({ optional: true });
  }
  unique(): RelationNode {
    return this.#with({ unique: true });
  }
  remote(service?: string): RelationNode {
    return this.#with({ remote: Object.freeze({ service }) });
  }
  foreignKey(name: string): RelationNode {
    return this.#with({ foreignKey: name });
  }
  onDelete(action: OnDelete): RelationNode {
    return this.#with({ onDelete: action });
  }
  inverse(field: string): RelationNode {
    return this.#with({ inverse: field });
  }
  renamedFrom(name: string): RelationNode {
    return this.#with({ renamedFrom: name });
  }
  column(name: string): RelationNode {
    return this.#with({ column: name });
  }
  through(table: string, columns: Omit<PairTable, "table">): RelationNode {
    return this.#with({ through: Object.freeze({ table, ...columns }) });
  }
  meta(key: string, value: unknown): RelationNode {
    return this.#with({ meta: withMetadata(this.relation.meta, key, value) });
  }
}

suggestMethods(RelationNode);

/**
 * Any function, typed without a call signature. With one, TypeScript would resolve the return type of an arrow function
 * while it is still checking the surrounding entity; a long chain of entities would overflow its stack.
 */
type Thunk = { readonly bind: unknown };

function relation<TRelation extends AnyRelation>(type: RelationType, target: Thunk | null): TRelation {
  const definition = { type, target: target as (() => EntityLike) | null, optional: false, unique: false };
  return new RelationNode(definition) as unknown as TRelation;
}

/**
 * Many-to-one: this record has the key of the other (`author` → column `authorId`).
 * @param target returns the other entity; a function, so that two entities may refer to each other
 */
export function belongsTo<T extends Thunk>(target: T): Relation<"belongsTo", T> {
  return relation("belongsTo", target);
}
/** One-to-many: the other records have this record's key. */
export function hasMany<T extends Thunk>(target: T): Relation<"hasMany", T> {
  return relation("hasMany", target);
}
/** One-to-one, seen from the side without the key. */
export function hasOne<T extends Thunk>(target: T): Relation<"hasOne", T> {
  return relation("hasOne", target);
}
/** Many-to-many, through a table that is defined implicitly; written as `<relation>Ids`. */
export function manyToMany<T extends Thunk>(target: T): Relation<"manyToMany", T> {
  return relation("manyToMany", target);
}
/** Many-to-one to the same entity (`parent: selfRef().optional()` → column `parentId`). */
export function selfRef(): Relation<"belongsTo", null> {
  return relation("belongsTo", null);
}
