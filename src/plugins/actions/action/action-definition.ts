import {
  type Access,
  type AnyEntity,
  ConfigurationError,
  isKeelsonError,
  type PlainAction,
  type PlainActionContext,
} from "../../../entity/index.ts";
import type {
  DescribeRoute,
  Driver,
  EntityClient,
  EntityRef,
  OperationScope,
  RouteReader,
  Row,
} from "../../../gate/index.ts";
import type { KernelBody, Logger, Reply, ServiceName, User } from "../../../kernel/index.ts";

/** What a description may be about besides its reader. */
export interface DescribedAction {
  readonly entity: AnyEntity;
  resolve<T = unknown>(service: ServiceName<T>): T;
}

/** An action as data, whatever it was written with: a plain one, and what builders and prebuilt ones say besides. */
export interface ActionDefinition extends Omit<PlainAction, "handler"> {
  /** Whether it is about one record: then below `/:id`, which its path need not name. @default whether the path begins with `/:id` */
  readonly onResource?: boolean | undefined;
  /** Which rules of the entity decide when the action has no rules. @default by method and path */
  readonly access?: Access | undefined;
  /**
   * Who asks the rules about the record: the action, before its handler runs, or the operations that the handler runs, each
   * in its own statement. They must carry `access` and `rules` of the context. @default "action"
   */
  readonly authorizes?: "action" | "operations" | undefined;
  /**
   * Whether a body is expected: JSON, and nothing else when it says true; "raw" leaves it to the handler to read. With an
   * input there is always one. @default JSON, or whatever it is unread, unless the method is GET or DELETE
   */
  readonly readsBody?: boolean | "raw" | undefined;
  /**
   * Whether all it does is in the database, by the driver and the clients of its context: then it may be part of a batch, and
   * is taken back with it. @default false
   */
  readonly transactional?: boolean | undefined;
  /** Whether ids that no record can have are for the handler to answer. @default false: they are 404 */
  readonly takesAnyId?: boolean | undefined;
  /** Ids of services that it cannot do without; the app does not start where one is missing. @default none */
  readonly needs?: readonly string[] | undefined;
  /** Further addresses of the same action. */
  readonly aliases?: readonly { readonly method: string; readonly path: string }[] | undefined;
  /** What keeps the action from working on an entity, as a sentence without a full stop; undefined when nothing does. */
  readonly check?: ((entity: AnyEntity) => string | undefined) | undefined;
  /** Steps of a workflow in place of a handler; the plugin that provides workflows reads them. */
  readonly workflow?: { readonly steps: unknown; readonly options?: object | undefined } | undefined;
  /** Whether it restores deleted records: callers that its rules allow may list deleted records. @default false */
  readonly restores?: boolean | undefined;
  /** The field in which it stores that a record is deleted; copies of the record do not have it. @default none */
  readonly deletesBy?: ((entity: AnyEntity) => string) | undefined;
  /** The client's own method that does the same, so that the action may have its name. @default none */
  readonly sameAs?: "count" | undefined;
  /** What documentation says about it. @default what `input`, `query` and `output` declare */
  readonly describe?: ((reader: RouteReader, on: DescribedAction) => ReturnType<DescribeRoute>) | undefined;
  handler(context: ActionContext): unknown;
  /** What a call in the process does, where the handler's answer is for HTTP only, such as a stream. @default the handler */
  call?(context: ActionContext): unknown;
}

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
   * The unread body, for actions that read it themselves; undefined without a body, or when it has been read. Reading more
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
  resolve<T = unknown>(service: ServiceName<T>): T;
  resolveAsync<T = unknown>(service: ServiceName<T>): Promise<T>;
  /** Runs work in a transaction: what it is given is this context, with that transaction's driver. */
  transaction<T>(work: (context: ActionContext<TInput, TQuery, TRecord>) => Promise<T>): Promise<T>;
  /** An answer with a status. @default status 200 */
  json(data: unknown, status?: number): Reply;
  /** @default status 302 */
  redirect(location: string, status?: number): Reply;
}

/** The definition behind whatever was attached, or what is wrong with it. */
export function definitionOf(value: unknown): ActionDefinition | string {
  if (typeof value === "function") return definitionOfPrebuilt(value as () => unknown);
  const held = (value as { definition?: unknown } | null | undefined)?.definition ?? value;
  if (typeof (held as Partial<ActionDefinition> | null | undefined)?.handler === "function")
    return held as ActionDefinition;
  return "is neither an action nor an object with a handler";
}

/** A prebuilt action that was attached without being called. */
function definitionOfPrebuilt(prebuilt: () => unknown): ActionDefinition | string {
  try {
    const made = prebuilt();
    return typeof made === "function" ? "is a function that gives no action" : definitionOf(made);
  } catch (error) {
    return isKeelsonError(error) ? error.message : "is a function that gives no action";
  }
}

/** Stands for the handler of an action as long as it has none. */
export function noHandler(): never {
  throw new ConfigurationError("The action has no handler");
}
