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
 * The context of a plugin. The declaring members (`provide`, `hooks`, `routes.add`, `routes.onRoute`, `problem`) can
 * only be used in `setup`: afterwards they throw a ConfigurationError, and the app does not start.
 */
export interface KernelPluginContext {
  /** Registers a service for the app and for other plugins. */
  provide<T>(service: ServiceName<T>, factory: ServiceFactory<T>, options?: ServiceOptions): void;
  /** Returns a service of the app. @throws ConfigurationError when it does not exist */
  use<T = unknown>(service: ServiceName<T>): T;
  /** Returns a service of the app, or undefined when it does not exist. */
  tryUse<T = unknown>(service: ServiceName<T>): T | undefined;
  /** Whether a service exists; does not create it. */
  has(service: ServiceName): boolean;
  readonly hooks: {
    /** @param hook a hook of the app by name, or a hook that a plugin defines by token */
    on<P = never>(
      hook: ServiceName<P>,
      fn: (payload: P) => void | PromiseLike<void>,
      options?: KernelHookOptions,
    ): void;
    /**
     * Defines a hook that other plugins can add functions to.
     * @param hook its token, made with `token<Payload>("acme:delivered")`
     * @returns a function that runs the hook's functions in order; it returns a promise only if one of them does
     */
    define<P>(hook: ServiceToken<P>): (payload: P) => void | Promise<void>;
  };
  readonly routes: {
    add(route: KernelRouteInput): void;
    /**
     * Changes routes of any plugin before they are served; the functions of several plugins are called in plugin order.
     * @param change returns the members of a route to replace, or undefined; it may report problems
     */
    onRoute(change: (route: KernelRoute, problem: (sentence: string) => void) => RouteChange | undefined): void;
    /** The routes of all plugins; complete once the app is set up. */
    list(): readonly KernelRoute[];
  };
  readonly config: KernelConfig;
  readonly log: Logger;
  /**
   * Runs work in its own scope: as a user, as an anonymous caller (null), or as the system. It waits until the app has
   * started. `early` work does not wait, and the database may not be connected yet.
   */
  runAs<T>(
    who: User | null | "system",
    work: (scope: Scope) => Promise<T>,
    options?: { readonly early?: boolean },
  ): Promise<T>;
  /** Reports a problem of the configuration; all are thrown together as one ConfigurationError. */
  problem(sentence: string): void;
}

/** A plugin endpoint, as the kernel handles it. Without `rules` it denies all callers. */
export interface KernelEndpointConfig<S = unknown>
  extends Pick<KernelRouteInput, "meta" | "early" | "body" | "errorFormat"> {
  /** @default "GET" */
  readonly method?: string | undefined;
  readonly rules?: readonly (string | { readonly name: string })[] | undefined;
  /** @param state the value that the plugin's `setup` returned */
  handler(context: KernelRouteContext, state: S): unknown;
}

/** An endpoint with its path from the root of the server. */
export interface KernelEndpoint<S = unknown> extends KernelEndpointConfig<S> {
  readonly path: string;
}

/** The members of a plugin that the kernel reads. @typeParam S the plugin's state in one app, which `setup` returns */
export interface KernelPluginOptions<S = unknown> {
  /** Unique; kebab-case, optionally "scope/name". */
  readonly id: string;
  readonly version?: string | undefined;
  /** Ids of plugins, or capabilities, that must be present; they are set up before this plugin. */
  readonly requires?: readonly string[] | undefined;
  /** Ids of plugins that are set up before this one if they are in the list. */
  readonly after?: readonly string[] | undefined;
  /** Ids of plugins that are set up after this one if they are in the list. */
  readonly before?: readonly string[] | undefined;
  /**
   * Capabilities that the plugin provides in addition to its id; features of entities (`features.ts`) are capabilities,
   * too.
   */
  readonly provides?: readonly string[] | undefined;
  readonly services?: Readonly<Record<string, ServiceFactory>> | undefined;
  readonly hooks?: { readonly [name: string]: ((payload: never) => void | PromiseLike<void>) | undefined } | undefined;
  readonly endpoints?: Readonly<Record<string, KernelEndpoint<S>>> | undefined;
  /**
   * Identifies the caller of a request: returns a user (`{ id }`), or null for an anonymous caller. It may be
   * asynchronous and take at most `limits.hookMs`. Throw AuthenticationError for invalid credentials; any other error
   * is answered with 503. An app has one `getUser`, in a plugin or in its configuration; an adapter's own `getUser`
   * takes precedence for its requests.
   */
  getUser?(request: RequestInfo, context: KernelPluginContext, state: S): unknown;
  /** Provides the base for the other plugins. Only in the first plugin of an app. */
  base?(ground: Ground): Base;
  /**
   * Declares the plugin's parts. It must be synchronous and do no I/O; returning a promise is an error.
   * @returns the plugin's state in this app, which is passed to its other functions
   */
  setup?(context: KernelPluginContext): S;
  /** Runs after the base is connected, in the order of `requires`. */
  start?(context: KernelPluginContext, state: S): void | Promise<void>;
  /**
   * Runs when the app begins to close: new requests are refused, running ones continue. Use it to end work that would
   * not end by itself, such as event streams. Closing waits at most `limits.hookMs` for it; errors are logged.
   */
  closing?(context: KernelPluginContext, state: S): void | Promise<void>;
  /** Runs in reverse order of `start`. Closing waits at most `limits.hookMs` for it; errors are logged. */
  stop?(context: KernelPluginContext, state: S): void | Promise<void>;
}

/** A plugin in the kernel: frozen and checked. */
export interface KernelPlugin extends KernelPluginOptions {
  readonly version: string;
  readonly requires: readonly string[];
  readonly provides: readonly string[];
}

/** The context and state of a plugin that is set up in an app. */
export interface SetUp {
  readonly context: KernelPluginContext;
  /** The value that `setup` returned. */
  readonly state: unknown;
}
