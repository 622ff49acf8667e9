import {
  type AnyEntity,
  ConfigurationError,
  createModel,
  type EntityLike,
  type EntityModel,
  isKeelsonError,
} from "../entity/index.ts";
import { createCallRunner } from "./client/call-runner.ts";
import { compileClients, type EntityClient } from "./client/in-process-client.ts";
import type { ServiceDefinition } from "./container/create-service.ts";
import { ServiceContainer, type ServiceFactory, type ServiceOptions } from "./container/service-container.ts";
import { HookRegistry } from "./hooks/hook-registry.ts";
import { chooseGetUser } from "./http/choose-get-user.ts";
import { answerWeb, fromWebRequest } from "./http/fetch.ts";
import { defaultIsAdmin, type IdentityOptions, principalOf, toPrincipal } from "./http/find-principal.ts";
import type { KernelRequest, KernelResponse, RequestInfo } from "./http/messages.ts";
import { ownsUrl } from "./http/owns-url.ts";
import type { TrustedOrigins } from "./http/refuse-forged.ts";
import { RequestHandler } from "./http/request-handler.ts";
import { completeLimits, type Limits } from "./limits.ts";
import { getLogger, safeLogger } from "./log/logger.ts";
import { defaultIds } from "./operations/default-ids.ts";
import { compileRuntime, type OperationRuntime } from "./operations/runtime.ts";
import type { OperationScope } from "./operations/scope.ts";
import { collidingSegments } from "./plugin/colliding-segments.ts";
import { createDeclarations } from "./plugin/declarations.ts";
import { layerDriver } from "./plugin/driver-layers.ts";
import { entitiesOf } from "./plugin/entity-schema.ts";
import { missingFeatures } from "./plugin/features.ts";
import { createLifecycle } from "./plugin/lifecycle.ts";
import { orderPlugins } from "./plugin/order.ts";
import type { Plugin, PluginConfig, PluginContext } from "./plugin/plugin.ts";
import type { Clock, IdGenerator } from "./ports/clock.ts";
import type { Driver } from "./ports/driver.ts";
import type { Logger } from "./ports/logger.ts";
import { type Principal, SYSTEM, type User } from "./ports/principal.ts";
import { tracerOf } from "./ports/tracer.ts";
import { taggingDriver } from "./records/tagging-driver.ts";
import type { RouteListing } from "./routes/route.ts";
import { RouteRegistry } from "./routes/route-registry.ts";
import { tracedHandle } from "./trace/traced-handle.ts";

/** What a kernel is made of. `keelson()` fills in the default driver and plugins; the kernel knows none. */
export interface KernelOptions {
  readonly entities: readonly EntityLike[];
  readonly driver: Driver;
  readonly plugins: Iterable<Plugin>;
  /** Origins whose pages may send requests that change something. @default none but the app's own */
  readonly trustedOrigins?: TrustedOrigins | undefined;
  /** @default "/api" */
  readonly apiPrefix?: string | undefined;
  readonly getUser?: ((request: RequestInfo) => unknown) | undefined;
  readonly isAdmin?: ((user: User) => boolean) | undefined;
  readonly defaultRules?: PluginConfig["defaultRules"] | undefined;
  readonly services?: Readonly<Record<string, ServiceFactory>> | undefined;
  readonly limits?: Partial<Limits> | undefined;
  readonly logger?: Logger | undefined;
  readonly clock?: Clock | undefined;
  readonly ids?: IdGenerator | undefined;
  /** @default NODE_ENV is "production" */
  readonly production?: boolean | undefined;
}

/** A booted app, without types of its entities. */
export interface Kernel {
  /** Started: driver connected, plugins started. Requests wait for it by themselves. */
  readonly ready: Promise<void>;
  handle(request: KernelRequest): Promise<KernelResponse>;
  fetch(request: Request): Promise<Response>;
  /** Whether a raw URL is one of this app's: under its prefix, or a plugin's endpoint. */
  owns(url: string, base?: string): boolean;
  as(user: User): Record<string, EntityClient<AnyEntity>>;
  asSystem(): Record<string, EntityClient<AnyEntity>>;
  readonly model: EntityModel;
  readonly container: ServiceContainer;
  readonly driver: Driver;
  readonly log: Logger;
  readonly limits: Limits;
  readonly apiPrefix: string;
  /** Every route, printable. */
  readonly routes: readonly RouteListing[];
  registerService(name: string, factory: ServiceFactory, options?: ServiceOptions): void;
  registerService(definition: ServiceDefinition<unknown>): void;
  /** Refuses new requests and calls, finishes those in flight, stops plugins, services and driver. Always completes. */
  close(): Promise<void>;
}

/** An origin is scheme, host and port, without a path: as browsers send it. */
function areOrigins(given: unknown): boolean {
  const isOrigin = (one: unknown): boolean =>
    typeof one === "string" && URL.canParse(one) && new URL(one).origin === one;
  return given === "all" || (Array.isArray(given) && given.every(isOrigin));
}

const PREFIX = /^(?:\/[A-Za-z0-9._~-]+)*$/;
/**
 * Boots an app: everything that can be wrong in the configuration is found first and thrown together; the database is
 * asked afterwards, and `ready` tells how that went. A database that is away is tried again by later requests.
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
  const model = createModel([...options.entities, ...plugins.flatMap(({ schema }) => entitiesOf(schema))]);
  problems.push(...model.problems, ...missingFeatures(model, plugins), ...collidingSegments(model));

  const container = new ServiceContainer();
  const hooks = new HookRegistry(limits.hookMs);
  const registry = new RouteRegistry(apiPrefix, problem);
  const config: PluginConfig = Object.freeze({
    apiPrefix,
    production,
    limits,
    isAdmin,
    defaultRules: options.defaultRules ?? {},
  });
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
  for (const [id, factory] of Object.entries(options.services ?? {})) attempt(() => container.register(id, factory));
  const bindClients = compileClients(model.entities, () => registry.all);
  const declarations = createDeclarations({
    hooks,
    register: (id, factory, serviceOptions) => attempt(() => container.register(id, factory, serviceOptions)),
    addRoute: (plugin, route) => registry.add(plugin, route),
    problem,
  });
  const contexts = new Map<Plugin, PluginContext>();
  for (const plugin of plugins) {
    const declaring = declarations.contextOf(plugin);
    const context: PluginContext = Object.freeze({
      services: {
        register: declaring.register,
        resolve: <T>(id: string) => container.resolve<T>(id),
        has: (id: string) => container.has(id),
      },
      hooks: declaring.hooks,
      routes: { add: declaring.addRoute, list: () => registry.all },
      entities: model,
      config,
      log,
      driver: options.driver,
      clientFor: (scope: OperationScope) => bindClients((work) => work(scope)),
      runAs: (who: User | null | "system", work, when) => calls.run(() => principalOf(who, identity), work, when),
      problem: declaring.problem,
    } satisfies PluginContext);
    contexts.set(plugin, context);
    attempt(() => declarations.declare(plugin, context), `plugin "${plugin.id}"`);
  }
  declarations.close();
  const getUser = chooseGetUser(options.getUser, contexts, problem);
  if (problems.length > 0) throw new ConfigurationError(problems, { cause });

  const tracer = tracerOf(container);
  const clock: Clock = options.clock ?? { now: () => new Date() };
  const layered = layerDriver(options.driver, contexts);
  const runtime: OperationRuntime = compileRuntime({
    model,
    ...layered,
    limits,
    log,
    production,
    clock,
    ids: options.ids ?? defaultIds,
    container,
    hooks,
    tracer,
  });
  container.setDriver(taggingDriver(layered.handlerDriver(layered.driver), runtime));
  const lifecycle = createLifecycle({
    plugins,
    contexts,
    driver: options.driver,
    container,
    start: () => options.driver.connect({ model, log, production }),
    log,
    stopMs: limits.hookMs,
    refuseLate: declarations.refuseLate,
  });
  const identity: IdentityOptions = { getUser, isAdmin, limits, log };
  const handler = new RequestHandler({
    runtime,
    routes: registry,
    apiPrefix,
    identity,
    trustedOrigins,
    started: lifecycle.started,
  });
  const handle = tracedHandle((request) => handler.handle(request), tracer);
  const calls = createCallRunner(runtime, lifecycle.started);
  const clientsFor = (principal: () => Principal): Record<string, EntityClient<AnyEntity>> =>
    bindClients((work) => calls.run(principal, work));
  let closing: Promise<void> | undefined;

  return Object.freeze({
    ready: lifecycle.ready,
    handle,
    fetch: (request: Request) => answerWeb({ handle, log }, fromWebRequest(request)),
    owns: (url: string, base?: string) => ownsUrl(registry, url, base, limits.urlBytes),
    as: (user: User) => clientsFor(() => toPrincipal(user, identity)),
    asSystem: () => clientsFor(() => SYSTEM),
    model,
    container,
    driver: options.driver,
    log,
    limits,
    apiPrefix,
    routes: Object.freeze(registry.list((entity, access) => (entity.rules ?? config.defaultRules)[access] ?? [])),
    registerService: (id: string | ServiceDefinition<unknown>, factory?: ServiceFactory, given?: ServiceOptions) =>
      void container.register(id, factory, given),
    // Requests go first: those in flight may use clients.
    close: () => (closing ??= handler.drain().then(calls.drain).then(lifecycle.stop)),
  });
}
