import type { AnyEntity } from "./entity-definition.ts";
import type {
  DataValue,
  InferEntityData,
  IsHidden,
  Parts,
  RelatedData,
  RelationNames,
  RelationParts,
  SeenData,
  TargetOf,
} from "./infer.ts";
import type { OPERATORS, OperandOf, Operator, OperatorGroup } from "./kinds/operators.ts";

// The types of queries, derived from an entity's definition. Definitions without types (AnyEntity) accept any query,
// like the kernel.

type OperandTypes<T> = {
  readonly value: T;
  readonly values: readonly T[];
  readonly text: string;
  readonly item: T;
  readonly items: readonly T[];
  readonly truth: boolean;
};
type OperatorsIn<G extends OperatorGroup, T> = {
  readonly [K in Operator as (typeof OPERATORS)[K]["group"] extends G ? K : never]?: OperandTypes<T>[OperandOf<K>];
};
interface NullOperator extends OperatorsIn<"any", never> {}
interface EqualityOperators<T> extends NullOperator, OperatorsIn<"equality", T | null> {}
interface OrderOperators<T> extends EqualityOperators<T>, OperatorsIn<"order", T> {}
interface TextOperators<T> extends OrderOperators<T>, OperatorsIn<"text", T> {}
interface ListOperators<T> extends NullOperator, OperatorsIn<"list", T> {}

type Below = [never, 0, 1, 2, 3];
type AnyPath = readonly (string | number)[];
type AnyMember = TextOperators<string | number | boolean>;
/** A condition on a JSON path, typed down to four levels. */
type PathCondition<T> = [keyof T] extends [never] ? { readonly path: AnyPath } & AnyMember : AtPath<T, readonly [], 3>;
type AtPath<T, P extends AnyPath, D extends number> = [T] extends [Scalar]
  ? { readonly path: P } & Operators<T>
  : [D] extends [never]
    ? { readonly path: readonly [...P, ...AnyPath] } & AnyMember
    : [T] extends [readonly (infer I)[]]
      ? AtPath<NonNullable<I>, readonly [...P, number], Below[D]>
      : { [K in keyof T & string]: AtPath<NonNullable<T[K]>, readonly [...P, K], Below[D]> }[keyof T & string];

/** Values stored as text, number, boolean or datetime. All others are JSON, which can only be compared with null. */
type Scalar = string | number | bigint | boolean | Date;
type Operators<T> = [T] extends [boolean]
  ? EqualityOperators<T>
  : [T] extends [string]
    ? TextOperators<T>
    : OrderOperators<T>;
type ColumnCondition<T> = [T] extends [Scalar]
  ? T | null | readonly (T | null)[] | Operators<T>
  : [T] extends [readonly (infer I)[]]
    ? null | ListOperators<I>
    : null | NullOperator | PathCondition<T>;
type ColumnConditions<D> = { readonly [K in keyof D]?: ColumnCondition<NonNullable<D[K]>> };

type RelatedConditions<E, F, H extends boolean> = {
  readonly [K in RelationNames<E> & keyof F]?: RelationParts<F[K]> extends { target: infer G; flags: infer L }
    ? "remote" extends L // those records are fetched after the query
      ? never
      : InferWhere<TargetOf<E, G>, H> | Quantified<InferWhere<TargetOf<E, G>, H>> | null
    : never;
};

/** How many related records of a to-many relation must match. */
interface Quantified<W> {
  readonly some?: W;
  readonly none?: W;
  readonly every?: W;
}

interface Logic<W> {
  readonly AND?: readonly W[];
  readonly OR?: readonly W[];
  readonly NOT?: W | readonly W[];
  readonly and?: readonly W[];
  readonly or?: readonly W[];
  readonly not?: W | readonly W[];
}

/** Columns that only the system can see. */
type HiddenConditions<F> = {
  readonly [K in keyof F & string as IsHidden<F[K]> extends true ? K : never]?: ColumnCondition<
    NonNullable<DataValue<F[K]>>
  >;
};

/**
 * Conditions on an entity's records: by field, by related record (`some`, `none`, `every`), with `and`, `or` and `not`.
 * The operators depend on the field's type; an array means `in`, `null` means “is null”.
 * @typeParam H whether fields with `.omit()` and `.password()` are included
 */
export type InferWhere<E, H extends boolean = false> =
  Parts<E> extends { fields: infer F }
    ? unknown extends F
      ? { readonly [name: string]: unknown }
      : ColumnConditions<InferEntityData<E>> &
          (H extends true ? HiddenConditions<F> : unknown) &
          RelatedConditions<E, F, H> &
          Logic<InferWhere<E, H>>
    : never;

type Typed<E, T> = Parts<E> extends { fields: infer F } ? (unknown extends F ? string : T) : never;
type SortableOf<D> = { [K in keyof D]: [NonNullable<D[K]>] extends [Scalar] ? K & string : never }[keyof D];
type EitherWay<K extends string> = K | `-${K}`;

/** A field to sort by; "-" in front reverses the order. */
export type InferSort<E> = Typed<E, EitherWay<SortableOf<InferEntityData<E>>>>;
/** A field of a related record to sort by: `"author.name"`. */
type RelatedSort<E> = Typed<E, EitherWay<`${RelationNames<E>}.${string}`>>;
/** A field to select. */
export type InferSelect<E> = Typed<E, keyof InferEntityData<E> & string>;
/** A relation to include, or one of a related record: `"author"`, `"comments.author"`. */
export type InferInclude<E> = RelationNames<E> | `${RelationNames<E>}.${string}`;

type TargetOfRelation<E, K> =
  Parts<E> extends { fields: infer F }
    ? RelationParts<F[K & keyof F]> extends { target: infer G }
      ? TargetOf<E, G>
      : never
    : never;

/** Options of an include. */
export interface IncludedOptions<E> {
  readonly where?: InferWhere<E> | undefined;
  /** `["-createdAt"]` */
  readonly sort?: readonly InferSort<E>[] | undefined;
  /** Maximum number per parent record; to-many relations only. @default unlimited, at most 1000 in total */
  readonly limit?: number | undefined;
  readonly select?: readonly InferSelect<E>[] | undefined;
  /** Adds their number under `_count`; to-many relations only. @default false */
  readonly count?: boolean | undefined;
  readonly include?: readonly InferInclude<E>[] | IncludeOptions<E> | undefined;
}

/** Relations to include, by name: `{ comments: { sort: ["-createdAt"], limit: 3, include: { author: true } } }`. */
export type IncludeOptions<E> = TypedOptions<
  E,
  { readonly [K in RelationNames<E>]?: boolean | IncludedOptions<TargetOfRelation<E, K>> }
>;

/** Names of relations, or relations with options. */
export type IncludeChoice<E> = readonly InferInclude<E>[] | IncludeOptions<E>;
/** The names in an include that is a list. */
export type NamesOf<I> = [I] extends [never] ? never : [I] extends [readonly (infer N extends string)[]] ? N : never;

type TypedOptions<E, T> =
  Parts<E> extends { fields: infer F } ? (unknown extends F ? { readonly [name: string]: unknown } : T) : never;
type SelectedBy<O> = O extends { readonly select: readonly (infer S extends string)[] } ? S : never;
type FurtherBy<E, O> = O extends { readonly include: infer N }
  ? N extends readonly (infer P extends string)[]
    ? Joined<E, P, false>
    : IncludedData<E, N>
  : unknown;
type IncludedRecord<E, O> = Picked<SeenData<E, false>, SelectedBy<O>> & FurtherBy<E, O>;
type Counted<O> = { [K in keyof O]: O[K] extends { readonly count: true } ? K : never }[keyof O];

/** The related records that options of an include add. */
export type IncludedData<E, O> = {
  [K in keyof O & RelationNames<E>]: RelatedData<E, K> extends readonly unknown[]
    ? IncludedRecord<TargetOfRelation<E, K>, O[K]>[]
    : IncludedRecord<TargetOfRelation<E, K>, O[K]> | null;
} & ([Counted<O>] extends [never] ? unknown : { _count: { [K in Counted<O> & string]: number } });

type Head<S extends string> = S extends `${infer H}.${string}` ? H : S;
type Picked<D, S extends string> = [S] extends [never] ? D : Pick<D, (S | "id") & keyof D>;
type Joined<E, I extends string, TSystem extends boolean> = [I] extends [never]
  ? unknown
  : { [K in Head<I>]: RelatedData<E, K, TSystem> };

/**
 * A record as read by a caller, with the included relations and the selected fields (and always the id); all fields by
 * default. Fields with `.readable()` are optional: they are absent when the rules hide them.
 * @typeParam TSystem whether the system reads the record: all fields are then present
 * @typeParam O the include, if it is an object
 */
export type InferRecord<
  E,
  I extends string = never,
  S extends string = never,
  TSystem extends boolean = false,
  O = never,
> = Picked<SeenData<E, TSystem>, S> &
  Joined<E, I, TSystem> &
  ([O] extends [readonly unknown[]] ? unknown : IncludedData<E, O>);

/**
 * The options of a list, with the same names as in a query string.
 * @typeParam I the relations to include
 * @typeParam S the fields to select
 * @typeParam H whether conditions may use fields with `.omit()` and `.password()`
 */
export interface ListOptions<
  E = AnyEntity,
  I extends string = string,
  S extends string = string,
  H extends boolean = false,
  O = IncludeOptions<E>,
> {
  readonly where?: InferWhere<E, H> | undefined;
  /**
   * Words to search in the `.searchable()` fields, or a text to search in all readable text fields of an entity without
   * them.
   */
  readonly q?: string | undefined;
  /**
   * Adds `_highlights` to each record: HTML of its searchable fields, with `<mark>` around the matches of `q`. @default
   * false
   */
  readonly highlight?: boolean | undefined;
  /** `["-createdAt", "author.name"]`. `"-_rank"` sorts by relevance and is the default with `q`. */
  readonly sort?: readonly (InferSort<E> | RelatedSort<E> | "_rank" | "-_rank")[] | undefined;
  /** The number of the page, starting at 1; requires `limit`. */
  readonly page?: number | undefined;
  /** The cursor of the previous page (`nextCursor`). */
  readonly after?: string | undefined;
  /** @default 100, at most 1000 */
  readonly limit?: number | undefined;
  /** `["author", "comments.author"]`, or an object with options per relation. */
  readonly include?: readonly I[] | O | undefined;
  /** Includes softly deleted records, or returns only these, for callers who may restore them. @default left out */
  readonly deleted?: "with" | "only" | undefined;
  /** The fields to return, in addition to the id. @default all */
  readonly select?: readonly S[] | undefined;
  /** `false` omits the count; `"estimated"` stops counting at the last page that can be numbered. @default true */
  readonly total?: boolean | "estimated" | undefined;
}

/** A page of records. */
export interface ClientList<T> {
  readonly data: T[];
  readonly total: number;
  readonly nextCursor: string | null;
}

type FieldsOf<D, T> = { [K in keyof D]: [NonNullable<D[K]>] extends [T] ? K & string : never }[keyof D];
type Calendar = "year" | "quarter" | "month" | "week" | "day" | "hour";
/** A field or a calendar period to group by: `"customerId"`, `"month(createdAt)"`. */
export type InferGroupKey<E> = Typed<
  E,
  FieldsOf<InferEntityData<E>, Scalar> | `${Calendar}(${FieldsOf<InferEntityData<E>, Date | string>})`
>;
/** A field that can be added up: numbers and decimals, which are text. */
type Summable<E> = Typed<E, FieldsOf<InferEntityData<E>, number | bigint | string>>;
type Comparable<E> = Typed<E, FieldsOf<InferEntityData<E>, Scalar>>;

/** The aggregates to compute from an entity's records, by group. */
export interface AggregateOptions<E = AnyEntity, H extends boolean = false> {
  readonly where?: InferWhere<E, H> | undefined;
  readonly deleted?: "with" | "only" | undefined;
  /** @default one group */
  readonly group?: readonly InferGroupKey<E>[] | undefined;
  /** Counts the records of each group. @default false */
  readonly count?: boolean | undefined;
  readonly sum?: readonly Summable<E>[] | undefined;
  readonly avg?: readonly Summable<E>[] | undefined;
  readonly min?: readonly Comparable<E>[] | undefined;
  readonly max?: readonly Comparable<E>[] | undefined;
  /** Tests of measures: `{ count: { gte: 2 }, "sum.total": { lt: "10.00" } }`. */
  readonly having?: Readonly<Record<string, Readonly<Record<string, number | bigint | string>>>> | undefined;
  /** Names of groups and measures; "-" in front reverses the order: `["-sum.total"]`. @default the groups */
  readonly sort?: readonly string[] | undefined;
  /** @default 100, at most 1000 */
  readonly limit?: number | undefined;
  /** @default 0 */
  readonly offset?: number | undefined;
  /** IANA time zone of the calendar. @default "UTC" */
  readonly zone?: string | undefined;
}

type Names<O, K extends PropertyKey> = O extends { readonly [P in K]: readonly (infer N)[] } ? N & string : never;
type Value<D, N> = N extends keyof D ? D[N] : string | null;
type SumOf<T> = NonNullable<T> | null;
type AverageOf<T> = (NonNullable<T> extends string ? string : number) | null;
type MeasuresOf<O, K extends PropertyKey, M> = [Names<O, K>] extends [never] ? unknown : { readonly [P in K]: M };

/** A group in the result of an aggregate. */
export type InferGroup<E, O, D = InferEntityData<E>> = { [N in Names<O, "group">]: Value<D, N> } & (O extends {
  readonly count: true;
}
  ? { count: number }
  : unknown) &
  MeasuresOf<O, "sum", { [N in Names<O, "sum">]: SumOf<Value<D, N>> }> &
  MeasuresOf<O, "avg", { [N in Names<O, "avg">]: AverageOf<Value<D, N>> }> &
  MeasuresOf<O, "min", { [N in Names<O, "min">]: Value<D, N> | null }> &
  MeasuresOf<O, "max", { [N in Names<O, "max">]: Value<D, N> | null }>;
