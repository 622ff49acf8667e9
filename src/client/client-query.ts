import type { InferInclude, InferSelect, InferWhere, ListOptions, RelationNames } from "../entity/index.ts";

/** A moment may be compared as its text too. A list in a query string has no place for null. */
type Operand<T> = T extends Date
  ? Date | string
  : T extends readonly (infer I)[]
    ? readonly Operand<Exclude<I, null>>[]
    : T extends object
      ? { readonly [K in keyof T]: Operand<T[K]> }
      : T;

type Logic = "AND" | "OR" | "NOT";

/** Conditions on a related record: on its own fields, since a query string reaches one relation deep. */
type RelatedWhere<W> = {
  readonly [K in keyof W as K extends Logic ? never : Logic extends keyof NonNullable<W[K]> ? never : K]?: Operand<
    W[K]
  >;
};

/**
 * Conditions that a query string can say: those of `InferWhere` without AND, OR and NOT, and
 * one relation deep. All of them must hold.
 */
export type ClientWhere<E> =
  InferWhere<E> extends infer W
    ? {
        readonly [K in keyof W as K extends Logic ? never : K]?: K extends RelationNames<E>
          ? RelatedWhere<NonNullable<W[K]>>
          : Operand<W[K]>;
      }
    : never;

/** What a list is asked for, as in the process; `q` besides. */
export interface ClientQuery<E, I extends InferInclude<E> = InferInclude<E>, S extends InferSelect<E> = InferSelect<E>>
  extends Omit<ListOptions<E, I, S>, "where"> {
  readonly where?: ClientWhere<E> | undefined;
  /** Text to find in any readable text field. */
  readonly q?: string | undefined;
}
