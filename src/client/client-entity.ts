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
 * @param change returns the changes for the current record; undefined changes nothing
 * @throws KeelsonClientError with status 412 when every attempt conflicts; any error that `change` throws
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
   * Yields all records, in requests of `limit` each. It continues by cursor, so records that are created or deleted
   * meanwhile do not shift the others.
   * @throws KeelsonClientError, TypeError like `list`, in the step that sends the request
   * @example for await (const post of client.post.all({ where: { published: true } })) show(post)
   */
  all<const I extends IncludeChoice<E> = never, const S extends InferSelect<E> = never>(
    query?: Omit<ClientQuery<E, I, S>, "page">,
    options?: CallOptions,
  ): AsyncGenerator<OverTheWire<InferRecord<E, NamesOf<I>, S, false, I>>, void>;
  /** Yields all records, page by page. */
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
  /** Updates the given fields only. */
  update(id: string, data: Sendable<InferUpdate<E>>, options?: CallOptions): Promise<OverTheWire<InferRecord<E>>>;
  /**
   * Updates the record with the given values of a unique key, or creates it. The rules of the operation that runs
   * apply.
   */
  upsert(data: Sendable<InferCreate<E>>, options: UpsertOptions): Promise<OverTheWire<InferRecord<E>>>;
  /** For versioned entities: see {@link ModifyCall}. */
  readonly modify: IsVersioned<E> extends true ? ModifyCall<E> : never;
  delete(id: string, options?: CallOptions): Promise<void>;
  count(where?: ClientWhere<E>, options?: CallOptions): Promise<number>;
  /** Computes aggregates of the matching records, by group: see the in-process `aggregate`. */
  aggregate<const O extends Aggregated<E>>(query: O, options?: CallOptions): Promise<OverTheWire<InferGroup<E, O>>[]>;
}

/** A run that may continue after the response; `client.$runs.get(runId)` returns its report. */
export type StartedRun<O> =
  | { readonly status: "running"; readonly runId: string }
  | { readonly status: "ended"; readonly result: O };

type Arguments<G> = [G] extends [undefined]
  ? [given?: undefined, options?: CallOptions]
  : Record<never, never> extends G
    ? [given?: Sendable<G>, options?: CallOptions]
    : [given: Sendable<G>, options?: CallOptions];

/** The signature of an action. */
interface Call<A extends readonly unknown[], O> {
  (...args: A): Promise<O>;
  /**
   * Requests a response before the run has ended (`Prefer: respond-async`, RFC 7240). The API waits nevertheless for
   * actions without a workflow, runs that are not stored and anonymous callers; see `status`.
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

/** The actions of an entity as methods of its client, except for names of the client's own methods. */
export type ClientActions<E> = {
  readonly [K in keyof ActionsOf<E> & string as K extends keyof ClientEntity<E> ? never : K]: ActionCall<
    ActionsOf<E>[K]
  >;
};

/** Operands, where datetimes may also be texts. */
type Operand<T> = T extends Date
  ? Date | string
  : T extends readonly (infer I)[]
    ? readonly Operand<I>[]
    : T extends object
      ? { readonly [K in keyof T]: Operand<T[K]> }
      : T;

/** Conditions, like those of the in-process client, except that a relation cannot be null: use its key instead. */
type ClientWhere<E> =
  InferWhere<E> extends infer W
    ? { readonly [K in keyof W]?: Operand<K extends RelationNames<E> ? NonNullable<W[K]> : W[K]> }
    : never;

/** Options of an aggregate, like those of the in-process client. */
type Aggregated<E> = Omit<AggregateOptions<E>, "where"> & { readonly where?: ClientWhere<E> | undefined };

/** The query of a list, like that of the in-process client. */
export interface ClientQuery<E, I = IncludeChoice<E>, S extends InferSelect<E> = InferSelect<E>>
  extends Omit<ListOptions<E, never, S, false, I>, "where"> {
  readonly where?: ClientWhere<E> | undefined;
}
