import type { ServiceFactory, ServiceName, ServiceOptions, ServiceToken } from "../container/service-container.ts";
import type { KernelHookOptions } from "../hooks/kernel-hooks.ts";
import type { Logger } from "../log/logger.ts";
import type { Limits } from "../request/limits.ts";
import type { RequestInfo } from "../request/messages.ts";
import type { Scope, User } from "../request/scope.ts";
import type { KernelRoute, KernelRouteContext, KernelRouteInput, RouteChange } from "../routes/kernel-route.ts";
import type { Base, Ground } from "./base.ts";

/** The part of the app's configuration that plugins may read. */
export interface KernelConfig {
  readonly apiPrefix: string;
  readonly production: boolean;
  readonly limits: Limits;
  readonly isAdmin: (user: User) => boolean;
}

/**
 * What the kernel gives a plugin. The declaring members (`provide`, `hooks`, `routes.add`, `routes.onRoute`, `problem`) are for
 * `setup`: afterwards they throw a ConfigurationError, and the app does not start.
 */
export interface KernelPluginContext {
  /** Offers a service to the app and to other plugins. */
  provide<T>(service: ServiceName<T>, factory: ServiceFactory<T>, options?: ServiceOptions): void;
  /** A service of the app. @throws ConfigurationError when there is no such service */
  use<T = unknown>(service: ServiceName<T>): T;
  /** The same; undefined when there is no such service. */
  tryUse<T = unknown>(service: ServiceName<T>): T | undefined;
  /** Whether there is such a service; it is not made. */
  has(service: ServiceName): boolean;
  readonly hooks: {
    /** @param hook one of the app's by its name, or a plugin's own by its token */
    on<P = never>(
      hook: ServiceName<P>,
      fn: (payload: P) => void | PromiseLike<void>,
      options?: KernelHookOptions,
    ): void;
    /**
     * Defines a hook of the plugin's own, for others to add functions to.
     * @param hook its token, as made by `token<Payload>("acme:delivered")`
     * @returns runs these functions in order; a promise only when one of them returned one
     */
    define<P>(hook: ServiceToken<P>): (payload: P) => void | Promise<void>;
  };
  readonly routes: {
    add(route: KernelRouteInput): void;
    /**
     * Changes routes of all plugins before any is served; functions of several plugins are called in their order.
     * @param change gives the members of a route to replace; undefined for none. It may report problems
     */
    onRoute(change: (route: KernelRoute, problem: (sentence: string) => void) => RouteChange | undefined): void;
    /** Those of all plugins; complete once the app is set up. */
    list(): readonly KernelRoute[];
  };
  readonly config: KernelConfig;
  readonly log: Logger;
  /**
   * Runs work in a scope of its own: as a user, as an anonymous caller (null), or as the system. It waits until the app
   * has started; `early` work does not, and may find no database.
   */
  runAs<T>(
    who: User | null | "system",
    work: (scope: Scope) => Promise<T>,
    options?: { readonly early?: boolean },
  ): Promise<T>;
  /** Reports a problem of the configuration; all are thrown together as one ConfigurationError. */
  problem(sentence: string): void;
}

/** A plugin endpoint, as the kernel knows it. Without `rules` it denies everybody. */
export interface KernelEndpointConfig<S = unknown>
  extends Pick<KernelRouteInput, "meta" | "early" | "body" | "errorFormat"> {
  /** @default "GET" */
  readonly method?: string | undefined;
  readonly rules?: readonly (string | { readonly name: string })[] | undefined;
  /** @param state what the plugin's `setup` returned */
  handler(context: KernelRouteContext, state: S): unknown;
}

/** An endpoint with its path, from the root of the server. */
export interface KernelEndpoint<S = unknown> extends KernelEndpointConfig<S> {
  readonly path: string;
}

/** What the kernel takes of a plugin. @typeParam S what `setup` returns: the state that the plugin has in one app */
export interface KernelPluginOptions<S = unknown> {
  /** Unique; kebab-case, optionally "scope/name". */
  readonly id: string;
  readonly version?: string | undefined;
  /** Ids of plugins, or capabilities, that must be present; set up before this one. */
  readonly requires?: readonly string[] | undefined;
  /** Ids of plugins that are set up before this one when they are in the list. */
  readonly after?: readonly string[] | undefined;
  /** Ids of plugins that are set up after this one when they are in the list. */
  readonly before?: readonly string[] | undefined;
  /** Capabilities this plugin brings besides its id; features of entities (`features.ts`) are capabilities too. */
  readonly provides?: readonly string[] | undefined;
  readonly services?: Readonly<Record<string, ServiceFactory>> | undefined;
  readonly hooks?: { readonly [name: string]: ((payload: never) => void | PromiseLike<void>) | undefined } | undefined;
  readonly endpoints?: Readonly<Record<string, KernelEndpoint<S>>> | undefined;
  /**
   * Who calls, for the whole app: a user (`{ id }`), or null for an anonymous caller. It may be asynchronous, and take
   * `limits.hookMs` at most. Throw AuthenticationError for credentials that are wrong: any other error becomes a 503.
   * An app has one such function, of a plugin or in its configuration; an adapter's own `getUser` wins for its
   * requests.
   */
  getUser?(request: RequestInfo, context: KernelPluginContext, state: S): unknown;
  /** Provides the base for the other plugins. Only for the first plugin of an app. */
  base?(ground: Ground): Base;
  /**
   * Declares what the plugin adds; synchronous, no I/O. One that returns a promise is refused.
   * @returns the plugin's state in this app, which its other functions get
   */
  setup?(context: KernelPluginContext): S;
  /** Runs when the base is connected, in order of `requires`. */
  start?(context: KernelPluginContext, state: S): void | Promise<void>;
  /**
   * Runs when the app begins to close: new requests are refused, those in flight go on. Ends what would never end by
   * itself, such as streams of events. Closing waits `limits.hookMs` for it at most; what it throws is logged.
   */
  closing?(context: KernelPluginContext, state: S): void | Promise<void>;
  /** Runs in reverse order of `start`. Closing waits `limits.hookMs` for it at most; what it throws is logged. */
  stop?(context: KernelPluginContext, state: S): void | Promise<void>;
}

/** A plugin as the kernel has it: frozen, checked. */
export interface KernelPlugin extends KernelPluginOptions {
  readonly version: string;
  readonly requires: readonly string[];
  readonly provides: readonly string[];
}

/** A plugin that is set up in an app: its context, and its state there. */
export interface SetUp {
  readonly context: KernelPluginContext;
  /** What `setup` returned. */
  readonly state: unknown;
}
