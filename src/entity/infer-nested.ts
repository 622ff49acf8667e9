import type {
  ForeignKey,
  InferCreateInput,
  InferUpdateInput,
  Parts,
  RelationNames,
  RelationParts,
  TargetOf,
} from "./infer.ts";

// The types of nested writes: `{ lines: { create: [{ sku: "a" }] }, customer: { connect: "c1" } }`.

type FieldsOf<E> = Parts<E> extends { fields: infer F } ? F : never;
type BelongsTo<E> = {
  [K in RelationNames<E>]: RelationParts<FieldsOf<E>[K & keyof FieldsOf<E>]> extends { type: "belongsTo" } ? K : never;
}[RelationNames<E>];
type KeysOf<E> = { [K in BelongsTo<E>]: ForeignKey<K, FieldsOf<E>[K & keyof FieldsOf<E>]> }[BelongsTo<E>];
type OptionalKeys<D, K extends PropertyKey> = Omit<D, K> & Partial<Pick<D, K & keyof D>>;

/** A record that is created together with another one; its keys to the outer records are filled in. */
type Along<E> = OptionalKeys<InferCreateInput<E>, KeysOf<E>> & NestedInput<E>;
type Changes<E> = InferUpdateInput<E> & NestedInput<E>;
type OneOrMore<T> = T | readonly T[];

interface ByKey<E> {
  /** The value of a unique field, or the values of a unique combination. */
  readonly where: { readonly [K in keyof InferCreateInput<E>]?: NonNullable<InferCreateInput<E>[K]> };
  /** A new record with the same key, created if the caller can see no such record. */
  readonly create: Along<E>;
}

interface ToOne<E> {
  readonly create?: Along<E>;
  readonly connect?: string;
  readonly connectOrCreate?: ByKey<E>;
  readonly disconnect?: true;
  readonly update?: Changes<E>;
}

interface Pairs<E> {
  readonly create?: OneOrMore<Along<E>>;
  readonly connect?: OneOrMore<string>;
  readonly connectOrCreate?: OneOrMore<ByKey<E>>;
  readonly disconnect?: OneOrMore<string>;
  readonly set?: readonly string[];
}

interface ToMany<E> extends Pairs<E> {
  readonly update?: OneOrMore<Changes<E> & { readonly id: string }>;
  readonly delete?: OneOrMore<string>;
  readonly upsert?: OneOrMore<{
    /** Identifies the record among those of the outer record. */
    readonly where: Readonly<Record<string, unknown>>;
    readonly create: Along<E>;
    readonly update: Changes<E>;
  }>;
}

type NestedOf<E, V> =
  RelationParts<V> extends { type: infer T; target: infer G; flags: infer L }
    ? "remote" extends L
      ? never
      : T extends "hasMany"
        ? ToMany<TargetOf<E, G>>
        : T extends "manyToMany"
          ? Pairs<TargetOf<E, G>>
          : T extends "hasOne"
            ? ToOne<TargetOf<E, G>> & { readonly delete?: true }
            : ToOne<TargetOf<E, G>>
    : never;

/** Writes of related records, by relation. */
export type NestedInput<E> =
  Parts<E> extends { fields: infer F }
    ? unknown extends F
      ? unknown
      : { readonly [K in RelationNames<E> & keyof F]?: NestedOf<E, F[K]> }
    : unknown;

/** Nested writes with at least one record that this one refers to; its key is then not given. */
type Referring<E, N = NestedInput<E>> = {
  [K in BelongsTo<E> & keyof N]: { readonly [P in K]-?: NonNullable<N[P]> };
}[BelongsTo<E> & keyof N];

/** The input of create, including related records. */
export type InferCreate<E> =
  | (InferCreateInput<E> & NestedInput<E>)
  | (OptionalKeys<InferCreateInput<E>, KeysOf<E>> & NestedInput<E> & Referring<E>);

/** The input of update, including related records. */
export type InferUpdate<E> = InferUpdateInput<E> & NestedInput<E>;
