import type { DefinitionOf, EntityDefinition, EntityLike } from "../entity/index.ts";
import type { EntitySchema } from "./entity-schema.ts";

/** The types that plugins add to an app. */
export interface Added {
  /** The union of the entities that they define. */
  readonly entity: EntityLike;
  /** The fields that they add to other entities, by entity. */
  readonly extend: object;
}

/** The types that a plugin with this schema and these extensions adds; `never` when the types are not known. */
export type AddedBy<TSchema, TExtend> = [EntityIn<TSchema>, ExtensionsIn<TExtend>] extends [never, never]
  ? never
  : { readonly entity: EntityIn<TSchema>; readonly extend: ExtensionsIn<TExtend> };

type EntityIn<TSchema> =
  TSchema extends EntitySchema<infer E> ? (number extends E["length"] ? never : E[number]) : never;
type ExtensionsIn<TExtend> = TExtend extends object ? (string extends keyof TExtend ? never : TExtend) : never;

/** A plugin or a list of plugins whose type carries the types it adds. */
export interface Adding<A> {
  /** Type-level only. */
  readonly $adds?: A;
}

/** The types that a plugin or a list of plugins adds. */
export type AddedIn<TPlugins> = TPlugins extends readonly (infer P)[] ? AddedOf<P> : AddedOf<TPlugins>;

type AddedOf<P> = P extends { readonly $adds?: infer A } ? (A extends Added ? A : never) : never;

/** The entities of an app with the fields that its plugins add, and the entities that its plugins define. */
export type EntitiesWith<TEntities extends readonly EntityLike[], A> = [A] extends [never]
  ? TEntities
  : [A] extends [Added]
    ? readonly (Extended<TEntities[number], A["extend"]> | A["entity"])[]
    : never;

type Extended<E, X> = [X] extends [never] ? E : E extends unknown ? ExtendedOne<E, X> : never;

type ExtendedOne<E, X> =
  DefinitionOf<E> extends EntityDefinition<infer N, infer F, infer A, infer T, infer O, infer V>
    ? EntityDefinition<N, F & FieldsFor<X, N>, A, T, O, V>
    : never;

type FieldsFor<X, N extends string> = Both<X extends { readonly "*": infer F } ? F : never> &
  Both<X extends { readonly [K in N]: infer F } ? F : never>;

/** The intersection of the members of a union. */
type Both<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never;
