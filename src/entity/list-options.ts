import type { AnyEntity } from "./entity-definition.ts";
import type { InferSort, InferWhere } from "./infer-query.ts";

/**
 * The options of a list, with the same names as in a query string.
 * @typeParam I Relations to include
 * @typeParam S Fields to select
 * @typeParam H Whether conditions may be about fields with `.omit()` and `.password()`
 */
export interface ListOptions<
  E = AnyEntity,
  I extends string = string,
  S extends string = string,
  H extends boolean = false,
> {
  readonly where?: InferWhere<E, H> | undefined;
  /** `["-createdAt", "title"]` */
  readonly sort?: readonly InferSort<E>[] | undefined;
  /** From 1; together with `limit`. */
  readonly page?: number | undefined;
  /** Cursor of the page before (`nextCursor`). */
  readonly after?: string | undefined;
  /** @default 100, at most 1000 */
  readonly limit?: number | undefined;
  readonly include?: readonly I[] | undefined;
  /** Records that are softly deleted, for those who may restore them: these too, or these alone. @default none */
  readonly deleted?: "with" | "only" | undefined;
  /** Fields of the records; the id is always one of them. @default all */
  readonly select?: readonly S[] | undefined;
}

/** A page of records. */
export interface ClientList<T> {
  readonly data: T[];
  readonly total: number;
  readonly nextCursor: string | null;
}
