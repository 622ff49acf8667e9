import { type AnyEntity, ConfigurationError, createModel, type EntityLike, type EntityModel } from "../entity/index.ts";
import {
  type Driver,
  defaultIds,
  type HookMap,
  type HookName,
  type Operation,
  type OperationInput,
  type OperationScope,
  type Plugin,
  type PluginContext,
  type Route,
  type RouteInput,
} from "../gate/index.ts";
import {
  compileClients,
  compileRuntime,
  createChangeSeam,
  type DeclaredRecords,
  entitiesOf,
  GATE_SHAPES,
  HOOK_NAMES,
  layerDriver,
  RequestScope,
  recordsDoor,
} from "../gate/parts.ts";
import {
  ANONYMOUS,
  createDeclarations,
  DEFAULT_LIMITS,
  declarationShapes,
  defaultIsAdmin,
  HookRegistry,
  type HttpExchange,
  type KernelPlugin,
  type KernelPluginContext,
  type KernelRequest,
  type Logger,
  type Principal,
  routeSegment,
  runHooks,
  type ServiceFactory,
  type ServiceName,
  type ServiceSource,
  SYSTEM,
  type User,
} from "../kernel/index.ts";
import { type CallInit, createCaller, decideByDefault, type FakeResponse } from "./fake-requests.ts";
import { recordingLogger } from "./recording-logger.ts";

/** What plugins declared, as sorted, printable lists. */
export interface Seen {
  readonly services: readonly string[];
  readonly hooks: readonly string[];
  readonly routes: readonly string[];
  readonly requires: readonly string[];
  readonly provides: readonly string[];
  readonly problems: readonly string[];
}

/** A stand-in for the kernel that boots the plugins under test and nothing else. It records and never asserts. */
export interface FakeKernel {
  withEntities(...entities: readonly EntityLike[]): FakeKernel;
  withDriver(driver: Driver): FakeKernel;
  /** A stand-in for a service that another plugin would offer. */
  given(serviceId: string, value: unknown): FakeKernel;
  /** The caller of what follows; null = anonymous. */
  as(user: User | null): FakeKernel;
  /** @throws ConfigurationError with the problems the plugin reported, and for what the kernel refuses to start with */
  use(plugin: Plugin): Promise<FakeKernel>;
  readonly seen: Seen;
  readonly model: EntityModel;
  readonly log: Logger & { readonly lines: readonly string[] };
  /**
   * Calls a route of the plugins as the kernel does: hooks of the request, the route's rules, the handler, the
   * serializer; errors as the kernel's responses. Unless a plugin decides about rules (`route:authorize`), `everyone`
   * and `authenticated` work as usual and any other rule passes for admins.
   */
  call(method: string, path: string, init?: CallInit): Promise<FakeResponse>;
  /** Runs the plugins' functions of a hook and returns the payload. */
  run<N extends HookName>(hook: N, payload: HookMap[N]): Promise<HookMap[N]>;
  /** Runs an operation through the plugins' hooks on the driver, as the caller. */
  operation(input: OperationInput): Promise<Operation>;
  /** A scope of the caller, for hooks that need one. */
  scope(): OperationScope;
  /** Stops the plugins in reverse order, closes services that can be closed, last made first, and disconnects the driver. */
  close(): Promise<void>;
}

/**
 * A kernel for testing one plugin on its own: the same `PluginContext`, without tsyringe, adapters or other plugins.
 * @example
 * const kernel = createFakeKernel().withEntities(post).withDriver(memoryDriver({ post: [...] })).as({ id: "u1" })
 * await kernel.use(health())
 * await kernel.call("GET", "/health/live")
 */
export function createFakeKernel(): FakeKernel {
  let entities: readonly EntityLike[] = [];
  let model: EntityModel = createModel([]);
  let driver: Driver | undefined;
  let user: User | null = null;
  const services = new Map<string, ServiceFactory>();
  const instances = new Map<string, unknown>();
  const declared: string[] = [];
  const hooks = new HookRegistry<HookMap>(DEFAULT_LIMITS.hookMs);
  const declaredRecords: DeclaredRecords = { policies: [], listeners: [] };
  const hookNames = new Set<HookName>();
  const routes: Route[] = [];
  const problems: string[] = [];
  const plugins: Plugin[] = [];
  const contexts = new Map<Plugin, PluginContext>();
  const states = new Map<Plugin, unknown>();
  const idOf = (name: ServiceName): string => (typeof name === "string" ? name : name.id);
  const started: { readonly plugin: Plugin; readonly context: PluginContext }[] = [];
  const log = recordingLogger();

  const resolve = <T>(id: string): T => {
    if (instances.has(id)) return instances.get(id) as T;
    const factory = services.get(id);
    if (factory === undefined) throw new ConfigurationError(`Service "${id}" not found`);
    const made = factory({ resolve, resolveAsync: async <D>(other: string) => await resolve<D>(other), driver });
    instances.set(id, made);
    return made as T;
  };
  const problem = (sentence: string): void => void problems.push(sentence);
  const declarations = createDeclarations({
    hooks: hooks as unknown as HookRegistry,
    hookNames: HOOK_NAMES,
    shapes: declarationShapes(GATE_SHAPES),
    problem,
    register(id, factory) {
      declared.push(id);
      services.set(id, factory);
    },
    addRoute: (plugin, route) => addRoute(plugin, route as RouteInput),
  });
  /** Throws only on use: many plugins never use a driver. */
  const missingDriver = new Proxy({} as Driver, {
    get(_, name): undefined {
      // The kernel tests whether wrapDriver returned a promise; that does not use the driver.
      if (name === "then") return undefined;
      throw new ConfigurationError("The fake kernel has no driver; give it one with .withDriver(memoryDriver())");
    },
  });
  const principal = (who: User | null = user): Principal =>
    who === null ? ANONYMOUS : { kind: "user", user: who, isAdmin: defaultIsAdmin(who) };
  /** The caller of the test, or else the one that a plugin recognises. */
  const callerOf = async ({ method, url, headers, raw }: KernelRequest): Promise<Principal> => {
    const found = [...contexts].find(([{ getUser }]) => getUser !== undefined);
    if (found === undefined || user !== null) return principal();
    const get = (name: string): string | null => (headers[name.toLowerCase()] as string | undefined) ?? null;
    const recognised = await found[0].getUser?.({ method, url, raw, headers: { get } }, found[1], states.get(found[0]));
    return principal((recognised ?? null) as User | null);
  };
  const source: ServiceSource = {
    has: (id) => services.has(id) || instances.has(id),
    resolveIn: <T>(id: string) => resolve<T>(id),
  };
  const clock = { now: () => new Date() };
  const scope = (caller: Principal = principal(), exchange?: HttpExchange): OperationScope => {
    // Unless the plugin under test makes decisions, the test itself stands in for the rules.
    const open = new HookRegistry<HookMap>(DEFAULT_LIMITS.hookMs);
    const undecided =
      hooks.list("operation:authorize").length === 0 && !declaredRecords.policies.some(({ policy }) => policy.allows);
    if (undecided)
      open.on("test", "operation:authorize", ({ decision }: Operation) => {
        decision.allowed = true;
      });
    if (hooks.list("route:authorize").length === 0) open.on("test", "route:authorize", decideByDefault);
    for (const name of hookNames)
      for (const hook of hooks.list(name)) open.on(hook.plugin, name, hook.run, hook.options);
    const runtime = compileRuntime({
      model,
      ...layerDriver(
        driver ?? missingDriver,
        new Map([...contexts].map(([plugin, context]) => [plugin, { context, state: states.get(plugin) }])),
      ),
      limits: DEFAULT_LIMITS,
      log,
      production: false,
      clock,
      ids: defaultIds,
      container: source,
      hooks: open,
      policies: declaredRecords.policies,
      reporting: createChangeSeam(model, declaredRecords.listeners, log)?.around,
    });
    return new RequestScope(runtime, { principal: caller, requestId: "test", exchange });
  };

  const addRoute = (plugin: string, input: RouteInput): void => {
    const route: Route = { ...input, method: input.method.toUpperCase(), plugin };
    const owner = routes.find((other) => other.method === route.method && other.path === route.path);
    if (owner === undefined) routes.push(route);
    else problem(`route ${route.method} ${route.path} of plugin "${plugin}" collides with plugin "${owner.plugin}"`);
  };

  const kernel: FakeKernel = {
    withEntities(...list) {
      entities = [...entities, ...list];
      model = createModel(entities);
      return kernel;
    },
    withDriver(given) {
      driver = given;
      return kernel;
    },
    given(id, value) {
      instances.set(id, value);
      return kernel;
    },
    as(given) {
      user = given;
      return kernel;
    },
    async use(plugin) {
      plugins.push(plugin);
      kernel.withEntities(...entitiesOf(plugin.schema));
      if (driver !== undefined) await driver.connect({ model, log, production: false });
      declarations.reopen();
      const declaring = declarations.contextOf(plugin as unknown as KernelPlugin);
      const context: PluginContext = {
        provide: declaring.provide,
        use: (name) => resolve(idOf(name)),
        tryUse: (name) => (source.has(idOf(name)) ? resolve(idOf(name)) : undefined),
        has: (name) => source.has(idOf(name)),
        hooks: {
          define: declaring.hooks.define as PluginContext["hooks"]["define"],
          on(name, fn, options) {
            hookNames.add(name);
            declaring.hooks.on(name, fn as never, options);
          },
        },
        routes: { add: (route) => declaring.addRoute(route as never), list: () => routes },
        entities: model,
        config: {
          apiPrefix: "/api",
          production: false,
          limits: DEFAULT_LIMITS,
          isAdmin: defaultIsAdmin,
          defaultRules: {},
        },
        log,
        get driver() {
          return driver ?? missingDriver;
        },
        records: recordsDoor(plugin.id, declaredRecords, declaring.inSetup, declaring.problem),
        clientFor: (of) => compileClients(model.entities, () => [])((work) => work(of)),
        runAs: (who, work) => work(scope(who === "system" ? SYSTEM : principal(who))),
        problem: declaring.problem,
      };
      contexts.set(plugin, context);
      const kernelPlugin = plugin as unknown as KernelPlugin;
      states.set(plugin, declarations.declare(kernelPlugin, context as unknown as KernelPluginContext));
      declarations.close();
      if (problems.length > 0) throw new ConfigurationError([...problems]);
      await plugin.start?.(context, states.get(plugin));
      started.push({ plugin, context });
      declarations.refuseLate();
      return kernel;
    },
    get seen() {
      return {
        services: [...declared].sort(),
        hooks: [...hookNames].sort(),
        routes: routes.map(({ method, path }) => `${method} ${path}`).sort(),
        requires: plugins.flatMap(({ requires }) => requires).sort(),
        provides: plugins.flatMap(({ provides }) => provides).sort(),
        problems: [...problems],
      };
    },
    get model() {
      return model;
    },
    log,
    call: createCaller({ routes, hooks, log, principal: callerOf, scope }),
    async run(name, payload) {
      await runHooks(hooks.list(name), payload);
      return payload;
    },
    operation: (input) => scope().run(input),
    scope: () => scope(),
    async close() {
      for (const { plugin, context } of started.splice(0).reverse()) await plugin.stop?.(context, states.get(plugin));
      for (const made of [...instances.values()].reverse()) await (made as { close?(): unknown } | null)?.close?.();
      await driver?.disconnect();
    },
  };

  return kernel;
}

/** The path of an entity's collection, as routes of the fake kernel have it. */
function _pathOf(entity: AnyEntity): string {
  return `/${routeSegment(entity)}`;
}
