import type { DefinitionOf, EntityDefinition, EntityLike } from "../entity/index.ts";
import type { EntitySchema } from "./entity-schema.ts";

/** What plugins add to an app, as types know it. */
export interface Added {
  /** One of the entities that they bring. */
  readonly entity: EntityLike;
  /** Fields that they add, by entity. */
  readonly extend: object;
}

/** What a plugin with this schema and these extensions adds; never for nothing that types know. */
export type AddedBy<TSchema, TExtend> = [EntityIn<TSchema>, ExtensionsIn<TExtend>] extends [never, never]
  ? never
  : { readonly entity: EntityIn<TSchema>; readonly extend: ExtensionsIn<TExtend> };

type EntityIn<TSchema> =
  TSchema extends EntitySchema<infer E> ? (number extends E["length"] ? never : E[number]) : never;
type ExtensionsIn<TExtend> = TExtend extends object ? (string extends keyof TExtend ? never : TExtend) : never;

/** A plugin or a list of plugins whose types say what it adds. */
export interface Adding<A> {
  /** Type-level only. */
  readonly $adds?: A;
}

/** What plugins add: one, or a list of them. */
export type AddedIn<TPlugins> = TPlugins extends readonly (infer P)[] ? AddedOf<P> : AddedOf<TPlugins>;

type AddedOf<P> = P extends { readonly $adds?: infer A } ? (A extends Added ? A : never) : never;

/** The entities of an app, with what its plugins add to them, and those that its plugins bring. */
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

/** What all members of a union have together. */
type Both<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never;
