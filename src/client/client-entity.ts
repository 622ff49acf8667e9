import type {
  ActionTypes,
  BuiltAction,
  ClientList,
  DefinitionOf,
  InferCreateInput,
  InferInclude,
  InferRecord,
  InferSelect,
  InferUpdateInput,
  InferWhere,
  IsVersioned,
  ListOptions,
  RelationNames,
} from "../entity/index.ts";
import type { CallOptions } from "./client-options.ts";
import type { ModifyOptions } from "./create-entity-calls.ts";
import type { OverTheWire, Sendable } from "./create-sender.ts";

/**
 * Reads a record, changes it and writes the changes if it is still that version, with `If-Match`. When others were faster
 * it begins anew, after a pause by chance, so `change` may be called several times.
 * @param change makes the changes of the record as it is now; undefined leaves it as it is
 * @throws KeelsonClientError with status 412 when others were faster each time; what `change` throws
 * @example
 * await client.stock.modify(id, ({ left }) => ({ left: left - 1 }))
 */
export type ModifyCall<E> = (
  id: string,
  change: (
    current: OverTheWire<InferRecord<E>>,
  ) => Changes<InferUpdateInput<E>> | Promise<Changes<InferUpdateInput<E>>>,
  options?: ModifyOptions,
) => Promise<OverTheWire<InferRecord<E>>>;
type Changes<D> = Sendable<D> | undefined;

/** Typed access to one entity over HTTP: the calls of `api.as(user)`, with moments as text. Errors are thrown. */
export interface ClientEntity<E> {
  /** A page of records. */
  list<const I extends InferInclude<E> = never, const S extends InferSelect<E> = never>(
    query?: ClientQuery<E, I, S>,
    options?: CallOptions,
  ): Promise<ClientList<OverTheWire<InferRecord<E, I, S>>>>;
  /**
   * All records, one after the other, in requests of `limit` each. It goes on by cursor, so records that come and go
   * meanwhile move no others into or out of what is still to be read.
   * @throws KeelsonClientError, TypeError as `list` does, in the step that makes the request
   * @example
   * for await (const post of client.post.all({ where: { published: true } })) show(post)
   */
  all<const I extends InferInclude<E> = never, const S extends InferSelect<E> = never>(
    query?: Omit<ClientQuery<E, I, S>, "page">,
    options?: CallOptions,
  ): AsyncGenerator<OverTheWire<InferRecord<E, I, S>>, void>;
  /** The same, a page at a time. */
  pages<const I extends InferInclude<E> = never, const S extends InferSelect<E> = never>(
    query?: Omit<ClientQuery<E, I, S>, "page">,
    options?: CallOptions,
  ): AsyncGenerator<OverTheWire<InferRecord<E, I, S>>[], void>;
  get<const I extends InferInclude<E> = never, const S extends InferSelect<E> = never>(
    id: string,
    query?: Pick<ClientQuery<E, I, S>, "include" | "select" | "deleted">,
    options?: CallOptions,
  ): Promise<OverTheWire<InferRecord<E, I, S>>>;
  create(data: Sendable<InferCreateInput<E>>, options?: CallOptions): Promise<OverTheWire<InferRecord<E>>>;
  /** Changes what is given, and leaves the rest. */
  update(id: string, data: Sendable<InferUpdateInput<E>>, options?: CallOptions): Promise<OverTheWire<InferRecord<E>>>;
  /** On entities with versions: see {@link ModifyCall}. */
  readonly modify: IsVersioned<E> extends true ? ModifyCall<E> : never;
  delete(id: string, options?: CallOptions): Promise<void>;
  count(where?: ClientWhere<E>, options?: CallOptions): Promise<number>;
}

/** Work that may go on after the answer: its report is `client.$runs.get(runId)`. */
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
   * Asks not to wait (`Prefer: respond-async`, RFC 7240). Actions that are no workflow, runs that are not remembered and
   * callers without a name are waited for all the same: `status` tells.
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
type ClientWhere<E> =
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
