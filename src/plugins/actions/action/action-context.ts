import type { AnyEntity, PlainActionContext } from "../../../entity/index.ts";
import type { Driver, EntityClient, EntityRef, OperationScope, Row } from "../../../gate/index.ts";
import type { KernelBody, Logger, Reply, User } from "../../../kernel/index.ts";

/** The record an action is about. */
export type ActionRecord = Row & { readonly id: string };

/**
 * What a handler is given.
 * @typeParam TInput values of `.input()`
 * @typeParam TQuery values of `.query()`
 * @typeParam TRecord the record for actions under `/:id`, null for others
 */
export interface ActionContext<
  TInput = unknown,
  TQuery = Readonly<Record<string, unknown>>,
  TRecord extends ActionRecord | null = ActionRecord | null,
> extends Omit<PlainActionContext, "input" | "query" | "record" | "user" | "driver"> {
  /** Name the action is attached under. */
  readonly action: string;
  readonly params: Readonly<Record<string, string>>;
  /** Values of the declared query; without one, parameters as texts, those given more than once as lists. */
  readonly query: TQuery;
  /** Values of the declared input; without one, the JSON body as it came, or undefined. */
  readonly input: TInput;
  readonly headers: { get(name: string): string | null };
  readonly user: User | null;
  readonly entity: AnyEntity;
  /** Loaded, and the action's rules have passed for it. */
  readonly record: TRecord;
  /** The current transaction's driver, or the app's, with field security on. It asks no rules; `client` does. */
  readonly driver: Driver;
  /** The base driver: no field security, outside all transactions. */
  readonly unsafeDriver: Driver;
  /** What operations run in: as this caller, in the current transaction. */
  readonly scope: OperationScope;
  /** The action's own rules; undefined when it inherits. Operations that carry them obey them. */
  readonly rules: readonly string[] | undefined;
  /**
   * The framework's own request object; undefined for calls in the process. Of its body only the announced length has been
   * held to `limits.bodyBytes`: `body` counts what really comes.
   */
  readonly request: unknown;
  readonly signal: AbortSignal | undefined;
  readonly log: Logger;
  /** Absolute path of the API's root, for links; empty for calls in the process. */
  readonly root: string;
  /** Raw query string without `?`. */
  readonly search: string;
  /**
   * The unread body, for actions that read it themselves; undefined when there is none, or it has been read. Reading more
   * than `limits.bodyBytes` of it fails with 413.
   */
  readonly body: KernelBody | undefined;
  /** The value of the request's content-type, lower-case. */
  readonly contentType: string;
  /**
   * An entity's client as this caller, in the current transaction: same rules, same masks.
   * @throws EntityNotFoundError when the app has no such entity
   */
  client<E extends EntityRef>(entity: E): EntityClient<E extends string ? AnyEntity : E>;
  resolve<T = unknown>(service: string): T;
  resolveAsync<T = unknown>(service: string): Promise<T>;
  /** Runs work in a transaction: what it is given is this context, with that transaction's driver. */
  transaction<T>(work: (context: ActionContext<TInput, TQuery, TRecord>) => Promise<T>): Promise<T>;
  /** An answer with a status. @default status 200 */
  json(data: unknown, status?: number): Reply;
  /** @default status 302 */
  redirect(location: string, status?: number): Reply;
}
