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
 * Everything a plugin may use. The declaring members (`provide`, `hooks`, `routes.add`, `records`, `problem`) are for
 * `setup`: afterwards they throw a ConfigurationError, and the app does not start.
 */
export interface PluginContext extends Omit<KernelPluginContext, "hooks" | "routes" | "runAs"> {
  readonly hooks: {
    on<N extends HookName>(name: N, fn: HookFunction<N>, options?: HookOptions): void;
    /** @param hook another plugin's own */
    on<P>(hook: ServiceToken<P>, fn: (payload: P) => void | PromiseLike<void>, options?: HookOptions): void;
    /**
     * Defines a hook of the plugin's own, for others to add functions to.
     * @param hook its token, as made by `token<Payload>("acme:delivered")`
     * @returns runs these functions in order; a promise only when one of them returned one
     */
    define<P>(hook: ServiceToken<P>): (payload: P) => void | Promise<void>;
  };
  readonly routes: {
    add(route: RouteInput): void;
    /**
     * Changes routes of all plugins before any is served; functions of several plugins are called in their order. A handler
     * that stands around another one runs when the route's rules have passed.
     * @param change gives the members of a route to replace; undefined for none. It may report problems
     */
    onRoute(
      change: (
        route: Route,
        problem: (sentence: string) => void,
      ) => Partial<Pick<RouteInput, "handler" | "meta" | "timeout" | "errorFormat" | "describe">> | undefined,
    ): void;
    /** Those of all plugins; complete once the app is set up. */
    list(): readonly Route[];
  };
  /** All entities of the app, those of plugins included, with their relations resolved. */
  readonly entities: EntityModel;
  readonly config: PluginConfig;
  /** The base driver, without rules; connected when `start` runs. */
  readonly driver: Driver;
  /** The plugin's declarations about the records of all surfaces. */
  readonly records: {
    policy(policy: Policy): void;
    /**
     * Receives every change of records inside its transaction, from any surface: operations, imports, handlers'
     * drivers, steps of workflows, pairs, and what a deletion takes with it. A listener that throws rolls the change
     * back.
     * @param options which entities @default all that are not internal
     */
    onChange(listener: ChangeListener, options?: ChangeOptions): void;
    /**
     * Receives the same once the transaction has committed. Errors are logged: the change stays. It may be lost when
     * the process ends between the commit and the call.
     */
    onCommitted(listener: CommittedListener, options?: ChangeOptions): void;
    /**
     * Stores values with every new record, from any surface that has a caller: operations, imports, handlers' drivers,
     * steps of workflows. They replace what was given, and are there when rules decide and validators run.
     * @param options which entities @default all that are not internal
     */
    stamp(stamp: Stamp, options?: ChangeOptions): void;
    /**
     * Refuses records that must not be stored, from any surface, with 400 and its messages. It is asked inside the
     * transaction of the change, after the statement and before listeners; a refusal rolls the change back.
     * @param options which entities @default all that are not internal
     */
    validate(validator: RecordValidator, options?: ChangeOptions): void;
  };
  /** Clients of the entities that work in a scope: its caller, its transaction. Once the app is set up. */
  clientFor(scope: OperationScope): Readonly<Record<string, EntityClient<AnyEntity>>>;
  /** @param entities whose clients have types */
  clientFor<const E extends readonly EntityLike[]>(scope: OperationScope, entities: E): InProcessClient<E>;
  /**
   * Runs work in a scope of its own: as a user, as an anonymous caller (null), or as the system. It waits until the app
   * has started; `early` work does not, and may find no database.
   */
  runAs<T>(
    who: User | null | "system",
    work: (scope: OperationScope) => Promise<T>,
    options?: { readonly early?: boolean },
  ): Promise<T>;
}

/**
 * What `createPlugin` takes.
 * @typeParam S what `setup` returns: the plugin's state in one app
 * @typeParam TSchema its `schema`
 * @typeParam TExtend its `extend`
 */
export interface PluginOptions<
  S = unknown,
  TSchema extends EntitySchema | undefined = EntitySchema | undefined,
  TExtend extends EntityExtensions | undefined = EntityExtensions | undefined,
> extends Omit<
    KernelPluginOptions,
    "hooks" | "endpoints" | "getUser" | "base" | "setup" | "start" | "closing" | "stop"
  > {
  /** Entities it brings. */
  readonly schema?: TSchema | undefined;
  /**
   * Fields and relations that it adds to entities of the app and of other plugins, by the entity's name; `"*"` means all
   * that are not internal. They are part of tables, responses, filters, documentation and the app's types.
   */
  readonly extend?: TExtend | undefined;
  readonly hooks?: { readonly [N in HookName]?: HookFunction<N> } | undefined;
  readonly endpoints?: Readonly<Record<string, Endpoint<S>>> | undefined;
  /**
   * Who calls, for the whole app: a user (`{ id }`), or null for an anonymous caller. It may be asynchronous, and take
   * `limits.hookMs` at most. Throw AuthenticationError for credentials that are wrong: any other error becomes a 503.
   * An app has one such function, of a plugin or in its configuration; an adapter's own `getUser` wins for its
   * requests.
   */
  getUser?(request: RequestInfo, context: PluginContext, state: S): unknown;
  /**
   * Wraps the driver that the statements of operations run on, drivers of transactions included. Called once, after all
   * plugins are set up. @default the driver as it is
   */
  wrapDriver?(driver: Driver, context: PluginContext, state: S): Driver;
  /**
   * The same for the drivers of handlers, hooks and rules; called for each of them.
   * @param scope whose driver it is; undefined for the one that services of the whole app get
   * @default the driver as it is
   */
  wrapHandlerDriver?(driver: Driver, context: PluginContext, scope: OperationScope | undefined, state: S): Driver;
  /**
   * Declares what the plugin adds; synchronous, no I/O. One that returns a promise is refused.
   * @returns the plugin's state in this app, which its other functions get: two apps share nothing
   */
  setup?(context: PluginContext): S;
  /** Runs when the driver is connected, in order of `requires`. */
  start?(context: PluginContext, state: S): void | Promise<void>;
  /**
   * Runs when the app begins to close: new requests are refused, those in flight go on. Ends what would never end by
   * itself, such as streams of events. Closing waits `limits.hookMs` for it at most; what it throws is logged.
   */
  closing?(context: PluginContext, state: S): void | Promise<void>;
  /** Runs in reverse order of `start`. Closing waits `limits.hookMs` for it at most; what it throws is logged. */
  stop?(context: PluginContext, state: S): void | Promise<void>;
}

declare const kPlugin: unique symbol;

/** A plugin made by `createPlugin`: frozen, checked. @typeParam A what it adds to the app's types */
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
 * Makes a plugin. Other problems are reported by the app that uses it.
 * @param options its id, what it declares, and `setup`
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
 * Turns `(options) => plugin options` into `(options?) => Plugin`. With the type of `options` at the parameter, as in
 * `createPluginFactory((options: Partial<MyOptions>) => …)`, the app's types know what the plugin adds.
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

/** An immutable list of plugins, by id. @typeParam A what they add to the app's types */
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

  /** The list with a plugin at its end. */
  with<const P extends readonly Plugin[]>(...plugins: P): PluginList<A | AddedIn<P>> {
    return new PluginList([...this.#plugins, ...plugins]);
  }

  /** The list without a plugin. @throws ConfigurationError for an unknown id */
  without(id: string): PluginList<A> {
    this.#indexOf(id);
    return new PluginList(this.#plugins.filter((plugin) => plugin.id !== id));
  }

  /** The list with one plugin replaced. @throws ConfigurationError for an unknown id */
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
