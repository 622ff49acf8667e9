import {
  type AnyEntity,
  ConfigurationError,
  type EntityLike,
  type EntityModel,
  type EntityRules,
} from "../entity/index.ts";
import {
  type KernelConfig,
  type KernelPlugin,
  type KernelPluginContext,
  type KernelPluginOptions,
  makePlugin,
  makePluginFactory,
  type RequestInfo,
  type ServiceToken,
  type User,
} from "../kernel/index.ts";
import type { AddedBy, AddedIn, Adding } from "./added-types.ts";
import type { ChangeListener, ChangeOptions, CommittedListener } from "./change/record-change.ts";
import type { RecordValidator } from "./change/record-validator.ts";
import type { Stamp } from "./change/stamps.ts";
import type { EntityClient, InProcessClient } from "./client/in-process-client.ts";
import type { Endpoint } from "./endpoint.ts";
import type { EntityExtensions, EntitySchema } from "./entity-schema.ts";
import type { HookFunction, HookName, HookOptions } from "./operation/hook-map.ts";
import type { OperationScope } from "./operation/operation-scope.ts";
import type { Policy } from "./operation/policy.ts";
import type { Route, RouteInput } from "./operation/route.ts";
import type { Driver } from "./statement/driver-port.ts";

/** The part of the app's configuration that plugins may read. */
export interface PluginConfig extends KernelConfig {
  readonly defaultRules: EntityRules;
}

/**
 * The context of a plugin. The declaring members (`provide`, `hooks`, `routes.add`, `records`, `problem`) can only be
 * used in `setup`: afterwards they throw a ConfigurationError, and the app does not start.
 */
export interface PluginContext extends Omit<KernelPluginContext, "hooks" | "routes" | "runAs"> {
  readonly hooks: {
    on<N extends HookName>(name: N, fn: HookFunction<N>, options?: HookOptions): void;
    /** @param hook a hook that another plugin defines */
    on<P>(hook: ServiceToken<P>, fn: (payload: P) => void | PromiseLike<void>, options?: HookOptions): void;
    /**
     * Defines a hook that other plugins can add functions to.
     * @param hook its token, made with `token<Payload>("acme:delivered")`
     * @returns a function that runs the hook's functions in order; it returns a promise only if one of them does
     */
    define<P>(hook: ServiceToken<P>): (payload: P) => void | Promise<void>;
  };
  readonly routes: {
    add(route: RouteInput): void;
    /**
     * Changes routes of any plugin before they are served; the functions of several plugins are called in plugin order.
     * A handler that wraps another one runs after the route's rules have passed.
     * @param change returns the members of a route to replace, or undefined; it may report problems
     */
    onRoute(
      change: (
        route: Route,
        problem: (sentence: string) => void,
      ) => Partial<Pick<RouteInput, "handler" | "meta" | "timeout" | "errorFormat" | "describe">> | undefined,
    ): void;
    /** The routes of all plugins; complete once the app is set up. */
    list(): readonly Route[];
  };
  /** All entities of the app, including those of plugins, with resolved relations. */
  readonly entities: EntityModel;
  readonly config: PluginConfig;
  /** The base driver, without rules. It is connected when `start` runs. */
  readonly driver: Driver;
  /** Declares how the plugin takes part in access to records, from any surface. */
  readonly records: {
    policy(policy: Policy): void;
    /**
     * Receives every change to records inside its transaction, from any surface: operations, imports, handlers'
     * drivers, workflow steps, changed pairs, and cascading deletions. A listener that throws rolls the change back.
     * @param options the entities it applies to @default all entities that are not internal
     */
    onChange(listener: ChangeListener, options?: ChangeOptions): void;
    /**
     * Receives the same changes once the transaction has committed. Errors are logged and the change stays. The call is
     * lost if the process ends between the commit and the call.
     * @param options the entities it applies to @default all entities that are not internal
     */
    onCommitted(listener: CommittedListener, options?: ChangeOptions): void;
    /**
     * Stores values with every new record, from any surface that has a caller: operations, imports, handlers' drivers,
     * workflow steps. They replace the given values, and are set before rules decide and validators run.
     * @param options the entities it applies to @default all entities that are not internal
     */
    stamp(stamp: Stamp, options?: ChangeOptions): void;
    /**
     * Validates new and changed records, from any surface; an invalid record is refused with 400 and the validator's
     * messages. It runs inside the transaction of the change, after the statement and before listeners. A refusal rolls
     * the change back.
     * @param options the entities it applies to @default all entities that are not internal
     */
    validate(validator: RecordValidator, options?: ChangeOptions): void;
  };
  /** Entity clients that run in a scope, with its caller and transaction. Available once the app is set up. */
  clientFor(scope: OperationScope): Readonly<Record<string, EntityClient<AnyEntity>>>;
  /** @param entities the entities to infer the clients' types from */
  clientFor<const E extends readonly EntityLike[]>(scope: OperationScope, entities: E): InProcessClient<E>;
  /**
   * Runs work in its own scope: as a user, as an anonymous caller (null), or as the system. It waits until the app has
   * started. `early` work does not wait, and the database may not be connected yet.
   */
  runAs<T>(
    who: User | null | "system",
    work: (scope: OperationScope) => Promise<T>,
    options?: { readonly early?: boolean },
  ): Promise<T>;
}

/**
 * The options of `createPlugin`.
 * @typeParam S the plugin's state in one app, which `setup` returns
 * @typeParam TSchema the type of `schema`
 * @typeParam TExtend the type of `extend`
 */
export interface PluginOptions<
  S = unknown,
  TSchema extends EntitySchema | undefined = EntitySchema | undefined,
  TExtend extends EntityExtensions | undefined = EntityExtensions | undefined,
> extends Omit<
    KernelPluginOptions,
    "hooks" | "endpoints" | "getUser" | "base" | "setup" | "start" | "closing" | "stop"
  > {
  /** The entities that the plugin defines. */
  readonly schema?: TSchema | undefined;
  /**
   * Fields and relations that the plugin adds to entities of the app and of other plugins, by entity name; `"*"` means
   * all entities that are not internal. They become part of tables, responses, filters, documentation and the app's
   * types.
   */
  readonly extend?: TExtend | undefined;
  readonly hooks?: { readonly [N in HookName]?: HookFunction<N> } | undefined;
  readonly endpoints?: Readonly<Record<string, Endpoint<S>>> | undefined;
  /**
   * Identifies the caller of a request: returns a user (`{ id }`), or null for an anonymous caller. It may be
   * asynchronous and take at most `limits.hookMs`. Throw AuthenticationError for invalid credentials; any other error
   * is answered with 503. An app has one `getUser`, in a plugin or in its configuration; an adapter's own `getUser`
   * takes precedence for its requests.
   */
  getUser?(request: RequestInfo, context: PluginContext, state: S): unknown;
  /**
   * Wraps the driver that runs the statements of operations, including drivers of transactions. Called once, after all
   * plugins are set up. @default no wrapper
   */
  wrapDriver?(driver: Driver, context: PluginContext, state: S): Driver;
  /**
   * Wraps the drivers of handlers, hooks and rules; called for each of them.
   * @param scope the scope that the driver belongs to; undefined for services of the whole app
   * @default no wrapper
   */
  wrapHandlerDriver?(driver: Driver, context: PluginContext, scope: OperationScope | undefined, state: S): Driver;
  /**
   * Declares the plugin's parts. It must be synchronous and do no I/O; returning a promise is an error.
   * @returns the plugin's state in this app, which is passed to its other functions; apps do not share state
   */
  setup?(context: PluginContext): S;
  /** Runs after the driver is connected, in the order of `requires`. */
  start?(context: PluginContext, state: S): void | Promise<void>;
  /**
   * Runs when the app begins to close: new requests are refused, running ones continue. Use it to end work that would
   * not end by itself, such as event streams. Closing waits at most `limits.hookMs` for it; errors are logged.
   */
  closing?(context: PluginContext, state: S): void | Promise<void>;
  /** Runs in reverse order of `start`. Closing waits at most `limits.hookMs` for it; errors are logged. */
  stop?(context: PluginContext, state: S): void | Promise<void>;
}

declare const kPlugin: unique symbol;

/** A plugin made by `createPlugin`; frozen and checked. @typeParam A the types it adds to the app */
export interface Plugin<A = unknown>
  extends PluginOptions,
    Adding<A>,
    Pick<KernelPlugin, "version" | "requires" | "provides"> {
  readonly version: string;
  readonly requires: readonly string[];
  readonly provides: readonly string[];
  readonly [kPlugin]?: true;
}

/**
 * Makes a plugin. All problems but those below are reported by the app that uses it.
 * @param options its id, its declarations, and `setup`
 * @throws ConfigurationError when the id is missing or not kebab-case, optionally "scope/name", and when `requires` or
 *   `provides` is not a list of names
 */
export function createPlugin<
  S = unknown,
  const TSchema extends EntitySchema | undefined = undefined,
  const TExtend extends EntityExtensions | undefined = undefined,
>(options: PluginOptions<S, TSchema, TExtend>): Plugin<AddedBy<TSchema, TExtend>> {
  return makePlugin(options) as unknown as Plugin<AddedBy<TSchema, TExtend>>;
}

/**
 * Turns `(options) => plugin options` into `(options?) => Plugin`. Annotate the parameter, as in
 * `createPluginFactory((options: Partial<MyOptions>) => …)`, so that the app's types include the types that the plugin
 * adds.
 */
export function createPluginFactory<
  TOptions extends object = Record<never, never>,
  S = unknown,
  const TSchema extends EntitySchema | undefined = EntitySchema | undefined,
  const TExtend extends EntityExtensions | undefined = EntityExtensions | undefined,
>(
  define: (options: Partial<TOptions>) => PluginOptions<S, TSchema, TExtend>,
): (options?: Partial<TOptions>) => Plugin<AddedBy<TSchema, TExtend>> {
  return makePluginFactory<TOptions, PluginOptions<S, TSchema, TExtend>>(define) as unknown as (
    options?: Partial<TOptions>,
  ) => Plugin<AddedBy<TSchema, TExtend>>;
}

/** An immutable list of plugins, by id. @typeParam A the types they add to the app */
export class PluginList<A = never> implements Iterable<Plugin>, Adding<A> {
  /** Type-level only. */
  declare readonly $adds?: A;
  readonly #plugins: readonly Plugin[];

  constructor(plugins: readonly Plugin[]) {
    this.#plugins = Object.freeze([...plugins]);
  }

  get ids(): readonly string[] {
    return this.#plugins.map(({ id }) => id);
  }

  /** Returns the list with plugins appended. */
  with<const P extends readonly Plugin[]>(...plugins: P): PluginList<A | AddedIn<P>> {
    return new PluginList([...this.#plugins, ...plugins]);
  }

  /** Returns the list without a plugin. @throws ConfigurationError for an unknown id */
  without(id: string): PluginList<A> {
    this.#indexOf(id);
    return new PluginList(this.#plugins.filter((plugin) => plugin.id !== id));
  }

  /** Returns the list with one plugin replaced. @throws ConfigurationError for an unknown id */
  replace<const P extends Plugin>(id: string, plugin: P): PluginList<A | AddedIn<P>> {
    const index = this.#indexOf(id);
    return new PluginList(this.#plugins.map((old, at) => (at === index ? plugin : old)));
  }

  [Symbol.iterator](): Iterator<Plugin> {
    return this.#plugins[Symbol.iterator]();
  }

  #indexOf(id: string): number {
    const index = this.#plugins.findIndex((plugin) => plugin.id === id);
    if (index === -1) throw new ConfigurationError(`There is no plugin "${id}" in the list (${this.ids.join(", ")})`);
    return index;
  }
}
