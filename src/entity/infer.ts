import type { EntityDefinition, FieldFlag } from "./entity-definition.ts";
import type { Field } from "./field-modifiers.ts";
import type { Relation, RelationFlag } from "./relation.ts";

/** The definition of a builder, or the definition itself. */
export type DefinitionOf<E> = E extends { build(): infer D } ? D : E;

/** The type information of a definition. */
export type Parts<E> =
  DefinitionOf<E> extends EntityDefinition<infer N, infer F, infer A, infer T, infer O, infer V>
    ? { name: N; fields: F; actions: A; timestamps: T; owner: O; versioned: V }
    : never;

type FieldParts<V> = V extends Field<infer T, infer F> ? { value: T; flags: F } : never;
export type RelationParts<V> =
  V extends Relation<infer K, infer T, infer F, infer FK> ? { type: K; target: T; flags: F; key: FK } : never;

type Has<F extends FieldFlag | RelationFlag, X extends string> = X extends F ? true : false;
type Nullable<T, F extends FieldFlag | RelationFlag> = Has<F, "optional"> extends true ? T | null : T;

export type ForeignKey<K extends string, V> =
  RelationParts<V> extends { type: "belongsTo"; key: infer FK }
    ? [FK] extends [never]
      ? `${K}Id`
      : FK & string
    : never;

export type IsHidden<V> = FieldParts<V> extends { flags: infer F extends FieldFlag } ? Has<F, "hidden"> : false;
type IsField<V> = V extends { readonly definition: unknown } ? true : false;

/** The key of a declared member in data: its own name, its foreign key, or never. */
type DataKey<K extends string, V> = IsField<V> extends true ? (IsHidden<V> extends true ? never : K) : ForeignKey<K, V>;
export type DataValue<V> =
  IsField<V> extends true
    ? FieldParts<V> extends { value: infer T; flags: infer F extends FieldFlag }
      ? Nullable<T, F>
      : never
    : RelationParts<V> extends { flags: infer F extends RelationFlag }
      ? Nullable<string, F>
      : never;

type Declared<F> = { [K in keyof F & string as DataKey<K, F[K]>]: DataValue<F[K]> };
type Timestamps<T> = T extends false ? unknown : { createdAt: Date; updatedAt: Date };
type Versioned<V> = V extends true ? { version: number } : unknown;
// `extends infer D` makes the results anonymous mapped types. A named type would keep the entity as its type argument,
// and inference through a record (`.then`, `.map`) would follow it to all reachable entities.

/** Whether records of an entity have a `version`. */
export type IsVersioned<E> = Parts<E> extends { versioned: infer V } ? ([V] extends [true] ? true : false) : false;

/**
 * A stored record as read by the system: id, timestamps, version, fields and foreign keys; without `.omit()` and
 * `.password()` fields. For records that callers read, use `InferRecord`.
 */
export type InferEntityData<E> =
  Parts<E> extends { fields: infer F; timestamps: infer T; versioned: infer V }
    ? { id: string } & Declared<F> & Timestamps<T> & Versioned<V> extends infer D
      ? { [K in keyof D]: D[K] }
      : never
    : never;

/**
 * A relation, or a field without `.readable()`. Comparing all members with it at once is faster than comparing each.
 */
type Unrestricted =
  | { readonly $field?: { readonly flags: Exclude<FieldFlag, "restricted"> } }
  | { readonly relation: unknown };
type IsRestricted<V> = FieldParts<V> extends { flags: infer F extends FieldFlag } ? Has<F, "restricted"> : false;
type RestrictedKeys<F> = { [K in keyof F & string]: IsRestricted<F[K]> extends true ? K : never }[keyof F & string];
type MayLack<D, R> = { [K in keyof D as Exclude<K, R>]: D[K] } & { [K in keyof D as Extract<K, R>]?: D[K] };

/**
 * A record as read by a caller: fields with `.readable()` may be absent. Without such fields, it is the stored type.
 */
type CallerData<E> =
  Parts<E> extends { fields: infer F }
    ? [F[keyof F]] extends [Unrestricted]
      ? InferEntityData<E>
      : MayLack<InferEntityData<E>, RestrictedKeys<F>> extends infer D
        ? { [K in keyof D]: D[K] }
        : never
    : never;

/** A record as read by the system, which sees all fields, or by a caller. */
export type SeenData<E, TSystem extends boolean> = TSystem extends true ? InferEntityData<E> : CallerData<E>;

/** The key under which callers write a member, including omitted and password fields; never for readonly fields. */
type InputKey<K extends string, V> =
  IsField<V> extends true
    ? FieldParts<V> extends { flags: infer F extends FieldFlag }
      ? Has<F, "readonly"> extends true
        ? never
        : K
      : never
    : RelationParts<V> extends { type: "manyToMany" }
      ? `${K}Ids`
      : ForeignKey<K, V>;
type InputValue<V> =
  IsField<V> extends true
    ? DataValue<V>
    : RelationParts<V> extends { type: "manyToMany" }
      ? readonly string[]
      : DataValue<V>;

/**
 * Whether a create may omit a member: it is optional, has a default, is the owner (taken from the caller), or is a list
 * of links.
 */
type MayLeaveOut<K, V, TOwner> = K extends TOwner
  ? true
  : IsField<V> extends true
    ? FieldParts<V> extends { flags: infer F extends FieldFlag }
      ? Has<F, "optional"> extends true
        ? true
        : Has<F, "default">
      : never
    : RelationParts<V> extends { type: infer T; flags: infer F extends RelationFlag }
      ? T extends "belongsTo"
        ? Has<F, "optional">
        : true
      : never;

type CreateInput<F, TOwner> = {
  [K in keyof F & string as MayLeaveOut<K, F[K], TOwner> extends true ? never : InputKey<K, F[K]>]: InputValue<F[K]>;
} & {
  [K in keyof F & string as MayLeaveOut<K, F[K], TOwner> extends true ? InputKey<K, F[K]> : never]?: InputValue<F[K]>;
};

/**
 * The input of create: no id, no timestamps; optional fields, fields with a default and the owner's key may be omitted.
 */
export type InferCreateInput<E> =
  Parts<E> extends { fields: infer F; owner: infer O }
    ? CreateInput<F, O> extends infer D
      ? { [K in keyof D]: D[K] }
      : never
    : never;

/** The input of update: any of the writable fields. */
export type InferUpdateInput<E> =
  Parts<E> extends { fields: infer F } ? { [K in keyof F & string as InputKey<K, F[K]>]?: InputValue<F[K]> } : never;

/** Complete values of fields outside entities: missing values are the default, or `null`. */
export type InferFieldValues<F> = { [K in keyof F & string]: DataValue<F[K]> };

/** Input values of fields outside entities: optional fields and those with a default may be omitted. */
export type InferFieldInput<F> = CreateInput<F, never> extends infer D ? { [K in keyof D]: D[K] } : never;

/** Names of an entity's relations. */
export type RelationNames<E> =
  Parts<E> extends { fields: infer F }
    ? { [K in keyof F & string]: F[K] extends { readonly relation: unknown } ? K : never }[keyof F & string]
    : never;

/**
 * The data of a relation: a record, a list, or `null` when the caller may not read any.
 * @typeParam TSystem whether the system reads it: fields with `.readable()` are then present
 */
export type RelatedData<E, K extends string, TSystem extends boolean = false> =
  Parts<E> extends { fields: infer F }
    ? K extends RelationNames<E>
      ? RelationParts<F[K & keyof F]> extends { type: infer T; target: infer G }
        ? T extends "hasMany" | "manyToMany"
          ? SeenData<TargetOf<E, G>, TSystem>[]
          : SeenData<TargetOf<E, G>, TSystem> | null
        : never
      : never
    : never;
export type TargetOf<E, G> = G extends () => infer R ? R : E;

/**
 * All inferred types of an instance, with records as callers read them: `typeof api.$Infer.Entities["post"]`,
 * `typeof api.$Infer.EntityNames`.
 */
export interface InferAll<TEntities extends readonly unknown[]> {
  readonly Entities: { [E in TEntities[number] as Parts<E>["name"]]: CallerData<E> };
  readonly CreateInputs: { [E in TEntities[number] as Parts<E>["name"]]: InferCreateInput<E> };
  readonly UpdateInputs: { [E in TEntities[number] as Parts<E>["name"]]: InferUpdateInput<E> };
  readonly EntityNames: Parts<TEntities[number]>["name"];
}

/** The inferred types of an instance. */
export type $Infer<TApi> = TApi extends { readonly $Infer: infer I } ? I : never;
/** The record type of one entity of an instance, as callers read it. */
export type EntityOf<TApi, TName extends string> =
  $Infer<TApi> extends { readonly Entities: infer M } ? (TName extends keyof M ? M[TName] : never) : never;
/** Names of an instance's entities. */
export type EntityNamesOf<TApi> = $Infer<TApi> extends { readonly EntityNames: infer N } ? N : never;
