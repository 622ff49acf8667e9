import type {
  ActionTypes,
  AggregateOptions,
  BuiltAction,
  ClientList,
  DefinitionOf,
  IncludeChoice,
  InferCreate,
  InferGroup,
  InferRecord,
  InferSelect,
  InferUpdate,
  InferUpdateInput,
  InferWhere,
  IsVersioned,
  ListOptions,
  NamesOf,
  RelationNames,
} from "../entity/index.ts";
import type { CallOptions } from "./client-options.ts";
import type { ModifyOptions, UpsertOptions } from "./create-entity-calls.ts";
import type { OverTheWire, Sendable } from "./create-sender.ts";

/**
 * Reads a record, changes it and writes the changes if its version is unchanged, with `If-Match`. On a conflict it
 * re-reads and retries after a random pause, so `change` may be called several times.
 * @param change returns the changes for the current record; undefined leaves it as it is
 * @throws KeelsonClientError with status 412 when every attempt conflicts; what `change` throws
 * @example await client.stock.modify(id, ({ left }) => ({ left: left - 1 }))
 */
export type ModifyCall<E> = (
  id: string,
  change: (
    current: OverTheWire<InferRecord<E>>,
  ) => Changes<InferUpdateInput<E>> | Promise<Changes<InferUpdateInput<E>>>,
  options?: ModifyOptions,
) => Promise<OverTheWire<InferRecord<E>>>;
type Changes<D> = Sendable<D> | undefined;

/** Typed access to one entity over HTTP: the calls of `api.as(user)`, with datetimes as text. Errors are thrown. */
export interface ClientEntity<E> {
  /** A page of records. */
  list<const I extends IncludeChoice<E> = never, const S extends InferSelect<E> = never>(
    query?: ClientQuery<E, I, S>,
    options?: CallOptions,
  ): Promise<ClientList<OverTheWire<InferRecord<E, NamesOf<I>, S, false, I>>>>;
  /**
   * All records, one after the other, in requests of `limit` each. It continues by cursor, so records that are created
   * or deleted meanwhile do not shift the rest.
   * @throws KeelsonClientError, TypeError as `list` does, in the step that makes the request
   * @example for await (const post of client.post.all({ where: { published: true } })) show(post)
   */
  all<const I extends IncludeChoice<E> = never, const S extends InferSelect<E> = never>(
    query?: Omit<ClientQuery<E, I, S>, "page">,
    options?: CallOptions,
  ): AsyncGenerator<OverTheWire<InferRecord<E, NamesOf<I>, S, false, I>>, void>;
  /** The same, a page at a time. */
  pages<const I extends IncludeChoice<E> = never, const S extends InferSelect<E> = never>(
    query?: Omit<ClientQuery<E, I, S>, "page">,
    options?: CallOptions,
  ): AsyncGenerator<OverTheWire<InferRecord<E, NamesOf<I>, S, false, I>>[], void>;
  get<const I extends IncludeChoice<E> = never, const S extends InferSelect<E> = never>(
    id: string,
    query?: Pick<ClientQuery<E, I, S>, "include" | "select" | "deleted">,
    options?: CallOptions,
  ): Promise<OverTheWire<InferRecord<E, NamesOf<I>, S, false, I>>>;
  create(data: Sendable<InferCreate<E>>, options?: CallOptions): Promise<OverTheWire<InferRecord<E>>>;
  /** Changes the given fields, and leaves the rest. */
  update(id: string, data: Sendable<InferUpdate<E>>, options?: CallOptions): Promise<OverTheWire<InferRecord<E>>>;
  /** Changes the record that has the values of a unique key, or creates it, under the rules of what it does. */
  upsert(data: Sendable<InferCreate<E>>, options: UpsertOptions): Promise<OverTheWire<InferRecord<E>>>;
  /** On entities with versions: see {@link ModifyCall}. */
  readonly modify: IsVersioned<E> extends true ? ModifyCall<E> : never;
  delete(id: string, options?: CallOptions): Promise<void>;
  count(where?: ClientWhere<E>, options?: CallOptions): Promise<number>;
  /** Computes with the records that match, by group: see `aggregate` in the process. */
  aggregate<const O extends Aggregated<E>>(query: O, options?: CallOptions): Promise<OverTheWire<InferGroup<E, O>>[]>;
}

/** Work that may go on after the response: its report is `client.$runs.get(runId)`. */
export type StartedRun<O> =
  | { readonly status: "running"; readonly runId: string }
  | { readonly status: "ended"; readonly result: O };

type Arguments<G> = [G] extends [undefined]
  ? [given?: undefined, options?: CallOptions]
  : Record<never, never> extends G
    ? [given?: Sendable<G>, options?: CallOptions]
    : [given: Sendable<G>, options?: CallOptions];

/** How an action is called. */
interface Call<A extends readonly unknown[], O> {
  (...args: A): Promise<O>;
  /**
   * Asks not to wait (`Prefer: respond-async`, RFC 7240). Actions without a workflow, runs that are not stored and
   * anonymous callers are waited for all the same; see `status`.
   */
  start(...args: A): Promise<StartedRun<O>>;
}

type CallOf<T extends ActionTypes> = T["resource"] extends true
  ? Call<[id: string, ...Arguments<T["given"]>], OverTheWire<T["output"]>>
  : Call<Arguments<T["given"]>, OverTheWire<T["output"]>>;

type ActionCall<A> = A extends (...options: never[]) => infer B
  ? ActionCall<B>
  : A extends BuiltAction<infer T>
    ? A extends { readonly definition: object }
      ? CallOf<T>
      : never
    : Call<readonly unknown[], unknown>;

type ActionsOf<E> = DefinitionOf<E> extends { readonly $entity?: { readonly actions: infer A } } ? A : never;

/** Actions of an entity as methods of its client; names of the client's own methods mean those. */
export type ClientActions<E> = {
  readonly [K in keyof ActionsOf<E> & string as K extends keyof ClientEntity<E> ? never : K]: ActionCall<
    ActionsOf<E>[K]
  >;
};

/** A datetime may be compared as text, too. */
type Operand<T> = T extends Date
  ? Date | string
  : T extends readonly (infer I)[]
    ? readonly Operand<I>[]
    : T extends object
      ? { readonly [K in keyof T]: Operand<T[K]> }
      : T;

/** Conditions as in the process; that there is no related record is said of its key. */
type ClientWhere<E> =
  InferWhere<E> extends infer W
    ? { readonly [K in keyof W]?: Operand<K extends RelationNames<E> ? NonNullable<W[K]> : W[K]> }
    : never;

/** What to compute, as in the process. */
type Aggregated<E> = Omit<AggregateOptions<E>, "where"> & { readonly where?: ClientWhere<E> | undefined };

/** The query of a list, as in the process. */
export interface ClientQuery<E, I = IncludeChoice<E>, S extends InferSelect<E> = InferSelect<E>>
  extends Omit<ListOptions<E, never, S, false, I>, "where"> {
  readonly where?: ClientWhere<E> | undefined;
}
