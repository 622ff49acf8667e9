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

/** The arguments of a description besides its reader. */
export interface DescribedAction {
  readonly entity: AnyEntity;
  resolve<T = unknown>(service: ServiceName<T>): T;
}

/** An action as data: a plain action, with the settings that builders and prebuilt actions add. */
export interface ActionDefinition extends Omit<PlainAction, "handler"> {
  /** Whether it is about one record. Its path is then below `/:id`. @default whether the path begins with `/:id` */
  readonly onResource?: boolean | undefined;
  /** The access whose rules decide when the action has no rules of its own. @default by method and path */
  readonly access?: Access | undefined;
  /**
   * What checks the rules on the record: the action before its handler runs, or each operation that the handler runs,
   * in its own statement. These operations must carry `access` and `rules` of the context. @default "action"
   */
  readonly authorizes?: "action" | "operations" | undefined;
  /**
   * Whether a body is expected. True: it must be JSON. "raw": the handler reads it. An action with an input always has
   * a body. @default JSON is read and other bodies are left unread, unless the method is GET or DELETE
   */
  readonly readsBody?: boolean | "raw" | undefined;
  /**
   * Whether all its effects go to the database, through the driver and the clients of its context. It may then be part
   * of a batch and is rolled back with it. @default false
   */
  readonly transactional?: boolean | undefined;
  /** Whether the handler also runs for ids that no record can have. @default false: they are 404 */
  readonly takesAnyId?: boolean | undefined;
  /** Ids of services that it requires; the app does not start without them. @default none */
  readonly needs?: readonly string[] | undefined;
  /** Additional methods and paths of the same action. */
  readonly aliases?: readonly { readonly method: string; readonly path: string }[] | undefined;
  /** Returns why the action cannot work on an entity, as a sentence without a full stop; undefined if it can. */
  readonly check?: ((entity: AnyEntity) => string | undefined) | undefined;
  /** Steps of a workflow in place of a handler; the plugin that provides workflows reads them. */
  readonly workflow?: { readonly steps: unknown; readonly options?: object | undefined } | undefined;
  /** Whether it restores deleted records: callers that its rules allow may list deleted records. @default false */
  readonly restores?: boolean | undefined;
  /** The field in which it stores that a record is deleted; copies of the record do not have it. @default none */
  readonly deletesBy?: ((entity: AnyEntity) => string) | undefined;
  /** The client's own method that does the same; the action may then have its name. @default none */
  readonly sameAs?: "count" | undefined;
  /** Its documentation. @default derived from `input`, `query` and `output` */
  readonly describe?: ((reader: RouteReader, on: DescribedAction) => ReturnType<DescribeRoute>) | undefined;
  handler(context: ActionContext): unknown;
  /**
   * Runs instead of the handler for calls in the process, when the handler's response is only for HTTP. @default the
   * handler
   */
  call?(context: ActionContext): unknown;
}

/** The record an action is about. */
export type ActionRecord = Row & { readonly id: string };

/**
 * The context of a handler.
 * @typeParam TInput values of `.input()`
 * @typeParam TQuery values of `.query()`
 * @typeParam TRecord the record for actions under `/:id`, null for others
 */
export interface ActionContext<
  TInput = unknown,
  TQuery = Readonly<Record<string, unknown>>,
  TRecord extends ActionRecord | null = ActionRecord | null,
> extends Omit<PlainActionContext, "input" | "query" | "record" | "user" | "driver"> {
  /** The name under which the action is attached. */
  readonly action: string;
  readonly params: Readonly<Record<string, string>>;
  /** Values of the declared query. Without one: parameters as texts, and as lists if they are given more than once. */
  readonly query: TQuery;
  /** Values of the declared input. Without one: the JSON body as it was sent, or undefined. */
  readonly input: TInput;
  readonly headers: { get(name: string): string | null };
  readonly user: User | null;
  readonly entity: AnyEntity;
  /** The loaded record; the action's rules have passed for it. */
  readonly record: TRecord;
  /** The current transaction's driver, or the app's, with field security. It checks no rules; `client` does. */
  readonly driver: Driver;
  /** The base driver: without field security, outside of all transactions. */
  readonly unsafeDriver: Driver;
  /** The scope of operations: this caller, in the current transaction. */
  readonly scope: OperationScope;
  /** The action's own rules; undefined when it inherits them. Pass them to the operations that should obey them. */
  readonly rules: readonly string[] | undefined;
  /**
   * The framework's own request object; undefined for calls in the process. Only the announced length of its body has
   * been checked against `limits.bodyBytes`; `body` counts the bytes as they arrive.
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
  /** The request's content type in lower case, with its parameters. */
  readonly contentType: string;
  /**
   * An entity's client as this caller, in the current transaction: same rules, same masks.
   * @throws EntityNotFoundError when the app has no such entity
   */
  client<E extends EntityRef>(entity: E): EntityClient<E extends string ? AnyEntity : E>;
  resolve<T = unknown>(service: ServiceName<T>): T;
  resolveAsync<T = unknown>(service: ServiceName<T>): Promise<T>;
  /** Runs work in a transaction. The work receives this context with the transaction's driver. */
  transaction<T>(work: (context: ActionContext<TInput, TQuery, TRecord>) => Promise<T>): Promise<T>;
  /** A response with a status. @default status 200 */
  json(data: unknown, status?: number): Reply;
  /** @default status 302 */
  redirect(location: string, status?: number): Reply;
}

/** The definition of an attached value, or the reason why it is not an action. */
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

/** The placeholder for the handler of an action that has none yet. */
export function noHandler(): never {
  throw new ConfigurationError("The action has no handler");
}
