import { ConfigurationError, isKeelsonError } from "../entity/base/keelson-error.ts";
import type { ServiceDefinition } from "./container/create-service.ts";
import { ServiceContainer, type ServiceFactory, type ServiceOptions } from "./container/service-container.ts";
import { HookRegistry } from "./hooks/hook-registry.ts";
import { KERNEL_HOOKS } from "./hooks/kernel-hooks.ts";
import { answerWeb, fromWebRequest } from "./http/fetch.ts";
import {
  defaultIsAdmin,
  type IdentityOptions,
  principalOf,
  type TrustedOrigins,
  toPrincipal,
} from "./http/find-principal.ts";
import { RequestHandler } from "./http/request-handler.ts";
import { getLogger, type Logger, safeLogger } from "./log/logger.ts";
import { createCallRunner, type Ground, plainBase } from "./plugin/base.ts";
import { chooseGetUser, createDeclarations } from "./plugin/declarations.ts";
import { declarationShapes } from "./plugin/declared-problems.ts";
import type { KernelConfig, KernelPlugin, KernelPluginContext, SetUp } from "./plugin/kernel-plugin.ts";
import { createLifecycle, orderPlugins } from "./plugin/lifecycle.ts";
import { completeLimits, type Limits } from "./request/limits.ts";
import type { KernelRequest, KernelResponse, RequestInfo } from "./request/messages.ts";
import type { User } from "./request/scope.ts";
import type { RouteListing } from "./routes/kernel-route.ts";
import { canonicalize, RouteRegistry } from "./routes/route-registry.ts";

/** Options of a kernel. */
export interface KernelOptions {
  readonly plugins: Iterable<KernelPlugin>;
  /** Origins whose pages may send requests that change data. @default the app's own origin only */
  readonly trustedOrigins?: TrustedOrigins | undefined;
  /** @default "/api" */
  readonly apiPrefix?: string | undefined;
  readonly getUser?: ((request: RequestInfo) => unknown) | undefined;
  readonly isAdmin?: ((user: User) => boolean) | undefined;
  readonly services?: Readonly<Record<string, ServiceFactory>> | undefined;
  readonly limits?: Partial<Limits> | undefined;
  readonly logger?: Logger | undefined;
  /** @default NODE_ENV is "production" */
  readonly production?: boolean | undefined;
}

/** A booted kernel. */
export interface Kernel {
  /** Resolves when the base is connected and plugins are started. Requests wait for it. */
  readonly ready: Promise<void>;
  handle(request: KernelRequest): Promise<KernelResponse>;
  fetch(request: Request): Promise<Response>;
  /** Whether a raw URL belongs to this app: it is under its prefix, or is a plugin's endpoint. */
  owns(url: string, base?: string): boolean;
  readonly container: ServiceContainer;
  readonly log: Logger;
  readonly limits: Limits;
  readonly apiPrefix: string;
  /** Every route, printable. */
  readonly routes: readonly RouteListing[];
  registerService(name: string, factory: ServiceFactory, options?: ServiceOptions): void;
  registerService(definition: ServiceDefinition<unknown>): void;
  /**
   * Refuses new requests and calls, waits for those in flight, then stops plugins, services and the base. Always
   * completes.
   */
  close(): Promise<void>;
}

/** Whether a value is a list of origins as browsers send them (scheme, host and port, without a path), or "all". */
function areOrigins(given: unknown): boolean {
  const isOrigin = (one: unknown): boolean =>
    typeof one === "string" && URL.canParse(one) && new URL(one).origin === one;
  return given === "all" || (Array.isArray(given) && given.every(isOrigin));
}

const PREFIX = /^(?:\/[A-Za-z0-9._~-]+)*$/;

/**
 * Boots plugins. All problems of the configuration are found first and thrown together. Parts that may be unavailable,
 * such as a database, are started afterwards; `ready` reports the result, and later requests retry.
 * @throws ConfigurationError
 */
export function createKernel(options: KernelOptions): Kernel {
  const production = options.production ?? process.env.NODE_ENV === "production";
  const log = safeLogger(options.logger ?? getLogger(), !production);
  const apiPrefix = (options.apiPrefix ?? "/api").replace(/\/$/, "");
  const isAdmin = options.isAdmin ?? defaultIsAdmin;
  const problems: string[] = [];
  const problem = (sentence: string): void => void problems.push(sentence);
  const limits = completeLimits(options.limits, problem);
  const { trustedOrigins = [] } = options;
  if (!areOrigins(trustedOrigins))
    problem('trustedOrigins must be "all" or a list of origins such as "https://app.example"');
  if (!PREFIX.test(apiPrefix)) problem(`apiPrefix "${apiPrefix}" must be a path such as /api`);

  const plugins = orderPlugins(options.plugins, problem);
  const container = new ServiceContainer();
  const hooks = new HookRegistry(limits.hookMs);
  const registry = new RouteRegistry(apiPrefix, problem);
  const config: KernelConfig = Object.freeze({ apiPrefix, production, limits, isAdmin });
  let cause: unknown;
  const attempt = (work: () => void, what = ""): void => {
    try {
      work();
    } catch (error) {
      if (isKeelsonError(error) && error.code === "CONFIGURATION_ERROR")
        return void problems.push(...(error as ConfigurationError).problems);
      cause ??= error;
      problem(`${what} failed in setup: ${error instanceof Error ? error : typeof error}`);
    }
  };
  const ground: Ground = {
    plugins,
    container,
    hooks,
    config,
    log,
    routes: () => registry.all,
    run: (principal, work, when) => calls.run(principal, work, when),
    toPrincipal: (user) => toPrincipal(user, identity),
    problem,
  };
  const [first, ...others] = plugins;
  for (const { id, base } of others)
    if (base !== undefined) problem(`Plugin "${id}" is the base of an app, and must be the first in the list`);
  const base = first?.base?.(ground) ?? plainBase(ground);
  for (const [id, factory] of Object.entries(options.services ?? {})) attempt(() => container.register(id, factory));
  const declarations = createDeclarations({
    hooks,
    hookNames: [...KERNEL_HOOKS, ...base.hookNames],
    shapes: declarationShapes(base.shapes),
    register: (id, factory, serviceOptions) => attempt(() => container.register(id, factory, serviceOptions)),
    addRoute: (plugin, route) => registry.add(plugin, route),
    problem,
  });
  const setUp = new Map<KernelPlugin, SetUp>();
  for (const plugin of plugins) {
    const declaring = declarations.contextOf(plugin);
    const own: KernelPluginContext = {
      provide: declaring.provide,
      use: (service) => container.resolve(service),
      has: (service) => container.has(service),
      tryUse: (service) => (container.has(service) ? container.resolve(service) : undefined),
      hooks: declaring.hooks,
      routes: { add: declaring.addRoute, onRoute: declaring.onRoute, list: () => registry.all },
      config,
      log,
      runAs: (who, work, when) => calls.run(() => principalOf(who, identity), work, when),
      problem: declaring.problem,
    };
    const context = Object.freeze({ ...own, ...base.contextOf(plugin, declaring.inSetup) });
    let state: unknown;
    attempt(() => {
      state = declarations.declare(plugin, context);
    }, `plugin "${plugin.id}"`);
    setUp.set(plugin, { context, state });
  }
  declarations.close();
  attempt(() => registry.complete(declarations.changed), "routes.onRoute");
  const getUser = chooseGetUser(options.getUser, setUp, problem);
  if (problems.length > 0) throw new ConfigurationError(problems, { cause });

  const { scopes, rulesOf, connect, disconnect } = base.complete(setUp);
  const lifecycle = createLifecycle({
    plugins: setUp,
    container,
    connect,
    disconnect,
    log,
    stopMs: limits.hookMs,
    refuseLate: declarations.refuseLate,
  });
  const identity: IdentityOptions = { getUser, isAdmin, limits, log };
  const { started } = lifecycle;
  const handler = new RequestHandler({
    scopes,
    hooks,
    limits,
    log,
    routes: registry,
    apiPrefix,
    identity,
    trustedOrigins,
    started,
  });
  const tracer = container.has("kernel.tracer") ? container.resolve<RequestTracer>("kernel.tracer") : undefined;
  const answer = (request: KernelRequest): Promise<KernelResponse> => handler.handle(request);
  const handle: typeof answer =
    tracer === undefined ? answer : (request) => tracer.request(request, () => answer(request));
  const calls = createCallRunner({ limits, log, open: scopes.open, started });
  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    const drained = handler.drain(); // from now on, requests are refused
    const ended = lifecycle.closing();
    if (ended !== undefined) await ended;
    await drained;
    await calls.drain(); // after requests, since they may use clients
    await lifecycle.stop();
  }

  return Object.freeze({
    ready: lifecycle.ready,
    handle,
    fetch: (request: Request) => answerWeb({ handle, log }, fromWebRequest(request)),
    owns: (url: string, mount?: string) => ownsUrl(registry, url, mount, limits.urlBytes),
    container,
    log,
    limits,
    apiPrefix,
    routes: Object.freeze(registry.list(rulesOf)),
    registerService: (id: string | ServiceDefinition<unknown>, factory?: ServiceFactory, given?: ServiceOptions) =>
      void container.register(id, factory, given),
    close: () => (closing ??= close()),
  });
}

/** The kernel's part of the service `kernel.tracer`: observes requests. */
export interface RequestTracer {
  /** Observes a request until its response. */
  request(request: KernelRequest, work: () => Promise<KernelResponse>): Promise<KernelResponse>;
}

/** Whether a raw URL belongs to the app: it is under its prefix, or is a plugin's endpoint. */
function ownsUrl(registry: RouteRegistry, url: string, base: string | undefined, maxBytes: number): boolean {
  if (base !== undefined) return true;
  try {
    return registry.owns(canonicalize(url, maxBytes).path, base);
  } catch {
    // A malformed path below the app's prefix gets the app's 400; elsewhere another handler of the host may accept it.
    return registry.owns(url.split(/[?#]/, 1)[0] ?? "", base);
  }
}
