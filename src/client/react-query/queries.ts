import type {
  DataTag,
  DefaultError,
  InfiniteData,
  QueryFunctionContext,
  QueryKey,
  UseMutationOptions,
} from "@tanstack/react-query";
import type {
  ClientList,
  IncludeChoice,
  InferCreate,
  InferRecord,
  InferSelect,
  InferUpdate,
  NamesOf,
} from "../../entity/index.ts";
import type { ClientActions, ClientEntity, ClientQuery } from "../client-entity.ts";
import type { CallOptions, TypedApp } from "../client-options.ts";
import type { OverTheWire, Sendable } from "../create-sender.ts";
import type { WorkflowRun } from "../workflow-runs.ts";

/** Query options, for `useQuery`, `useSuspenseQuery`, `prefetchQuery` and others. */
export interface EntityQuery<T> {
  readonly queryKey: DataTag<QueryKey, T, DefaultError>;
  readonly queryFn: (context: QueryFunctionContext) => Promise<T>;
}

/** Options of an infinite list, for `useInfiniteQuery` and others. */
export interface EntityPages<T> {
  readonly queryKey: DataTag<QueryKey, InfiniteData<T, string | null>, DefaultError>;
  readonly queryFn: (context: QueryFunctionContext<QueryKey, string | null>) => Promise<T>;
  readonly initialPageParam: string | null;
  readonly getNextPageParam: (page: T) => string | null;
}

/** Additional options of a mutation. */
export interface MutationSettings<T, V, R = unknown>
  extends Omit<UseMutationOptions<T, DefaultError, V, R>, "mutationFn" | "mutationKey"> {
  /**
   * The entities whose queries are stale after success; `false` for none. Queries that include related records are
   * always stale.
   * @default the entity of the mutation
   */
  readonly invalidates?: readonly string[] | false | undefined;
}

interface Mutated<T, V> {
  /** Queries of the entity are refetched after success, before the mutation ends. */
  mutationOptions<R = unknown>(settings?: MutationSettings<T, V, R>): UseMutationOptions<T, DefaultError, V, R>;
}

type Sent = { readonly options?: CallOptions | undefined };
type RecordOf<E, I, S extends InferSelect<E>> = OverTheWire<InferRecord<E, NamesOf<I>, S, false, I>>;
type Given<F> = F extends (given?: infer G, options?: CallOptions) => unknown ? G : never;

type ArgumentsOf<F> = F extends (...args: infer A) => unknown ? A : never;
type ResultOf<F> = F extends (...args: never[]) => Promise<infer O> ? O : never;
type FirstOf<A> = A extends readonly unknown[] ? A[0] : never;
type Optional<G> = undefined extends G ? [given?: G] : [given: G];

/** The arguments of an action without its options. */
type QueryArguments<A> = A extends readonly [string, ...infer R]
  ? [id: string, ...Optional<FirstOf<R>>]
  : Optional<FirstOf<A>>;
type Input<G> = undefined extends G ? { readonly input?: G } : { readonly input: G };
type Variables<A> = A extends readonly [string, ...infer R]
  ? Sent & { readonly id: string } & Input<FirstOf<R>>
  : undefined extends FirstOf<A>
    ? // biome-ignore lint/suspicious/noConfusingVoidType: so that `mutate()` takes no argument
      (Sent & Input<FirstOf<A>>) | void
    : Sent & Input<FirstOf<A>>;

/** Query and mutation options of an action; use queries for actions that only read. */
interface ActionQueries<F> extends Mutated<ResultOf<F>, Variables<ArgumentsOf<F>>> {
  queryKey(...args: Partial<QueryArguments<ArgumentsOf<F>>>): QueryKey;
  queryOptions(...args: QueryArguments<ArgumentsOf<F>>): EntityQuery<ResultOf<F>>;
}

/** The calls of one entity. */
interface EntityCalls<E> {
  /** The prefix of the keys of all its queries. */
  queryKey(): QueryKey;
  readonly list: {
    queryKey(query?: ClientQuery<E>): QueryKey;
    queryOptions<const I extends IncludeChoice<E> = never, const S extends InferSelect<E> = never>(
      query?: ClientQuery<E, I, S>,
    ): EntityQuery<ClientList<RecordOf<E, I, S>>>;
    /** Pages by cursor, so that records that are created or deleted meanwhile do not shift the others. */
    infiniteQueryOptions<const I extends IncludeChoice<E> = never, const S extends InferSelect<E> = never>(
      query?: Omit<ClientQuery<E, I, S>, "page" | "after">,
    ): EntityPages<ClientList<RecordOf<E, I, S>>>;
  };
  readonly get: {
    queryKey(id?: string): QueryKey;
    queryOptions<const I extends IncludeChoice<E> = never, const S extends InferSelect<E> = never>(
      id: string,
      query?: Pick<ClientQuery<E, I, S>, "include" | "select" | "deleted">,
    ): EntityQuery<RecordOf<E, I, S>>;
  };
  readonly count: {
    queryKey(where?: Given<ClientEntity<E>["count"]>): QueryKey;
    queryOptions(where?: Given<ClientEntity<E>["count"]>): EntityQuery<number>;
  };
  readonly create: Mutated<OverTheWire<InferRecord<E>>, Sent & { readonly data: Sendable<InferCreate<E>> }>;
  readonly update: Mutated<
    OverTheWire<InferRecord<E>>,
    Sent & { readonly id: string; readonly data: Sendable<InferUpdate<E>> }
  >;
  readonly delete: Mutated<void, Sent & { readonly id: string }>;
}

/** Queries and mutations of one entity; its actions are members of it. */
export type EntityQueries<E> = EntityCalls<E> & {
  readonly [K in keyof ClientActions<E> as K extends keyof EntityCalls<E> ? never : K]: ActionQueries<
    ClientActions<E>[K]
  >;
};

/** Queries and mutations of an app's entities, by name. */
export type Queries<TApi extends TypedApp> = {
  readonly [N in keyof TApi["entities"]]: EntityQueries<TApi["entities"][N]>;
} & {
  /** Reports of workflow runs. */
  readonly $runs: { readonly get: { queryOptions(runId: string): EntityQuery<WorkflowRun> } };
};
