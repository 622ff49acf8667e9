import type {
  ClientList,
  InferCreateInput,
  InferInclude,
  InferRecord,
  InferSelect,
  InferUpdateInput,
  IsVersioned,
} from "../entity/index.ts";
import type { CallOptions } from "./client-options.ts";
import type { ClientQuery, ClientWhere } from "./client-query.ts";
import type { ModifyOptions } from "./modify.ts";
import type { OverTheWire, Sendable } from "./over-the-wire.ts";

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
