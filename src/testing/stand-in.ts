import {
  createPlugin,
  type Driver,
  entityOf,
  type HookMap,
  type HookName,
  type Plugin,
  type PluginContext,
  type RouteAuthorization,
  type Tracer,
  withMiddleware,
} from "../gate/index.ts";
import { HookRegistry, type ServiceToken, type User } from "../kernel/index.ts";

type HookOptions = Parameters<PluginContext["hooks"]["on"]>[2];

/** Records the declarations and calls of the plugins under test. */
export interface Recorder {
  readonly hooks: HookRegistry<HookMap>;
  readonly services: string[];
  readonly hookNames: Set<HookName>;
  readonly routes: string[];
  /** Recorded operations; below, statements and calls of hooks. */
  readonly operations: string[];
  readonly statements: string[];
  readonly calls: string[];
  /** Observes operations. It is the last plugin, so that a tracer of the plugins under test replaces it. */
  readonly observer: Plugin;
  /** Wraps the driver to record its statements. */
  around(driver: Driver): Driver;
  /** Whether a plugin decides on operations, or on routes. */
  decides(about: "operations" | "routes"): boolean;
  /** Wraps a plugin to record its declarations, with the test's caller if it has one. */
  watch(plugin: Plugin, user: () => User | null): Plugin;
}

export function createRecorder(): Recorder {
  const hooks = new HookRegistry<HookMap>(0);
  const hookNames = new Set<HookName>();
  const services: string[] = [];
  const routes: string[] = [];
  const operations: string[] = [];
  const statements: string[] = [];
  const calls: string[] = [];
  let hasPolicy = false;

  function note(id: string, name: HookName, fn: unknown, options?: HookOptions): void {
    hookNames.add(name);
    if (typeof fn === "function") hooks.on(id, name, fn as never, options);
  }

  /** Wraps a hook function to record its calls; other values are returned unchanged and reported by the kernel. */
  function counted<F>(id: string, name: unknown, fn: F): F {
    if (typeof fn !== "function") return fn;
    const run = (payload: unknown): unknown => {
      calls.push(`${id} ${String(name)}`);
      return fn(payload);
    };
    return run as F;
  }

  const observer = createPlugin({
    id: "observer",
    setup({ has, provide }) {
      if (has("kernel.tracer")) return;
      const plain = <T>(_part: unknown, work: () => T): T => work();
      provide<Tracer>("kernel.tracer", () => ({
        request: plain,
        hook: plain,
        workflow: plain,
        step: plain,
        remote: (_call, work) => work({}),
        operation(input, work) {
          const { entity, kind } = input;
          operations.push(
            `${kind} ${typeof entity === "string" ? entity : (entity as { readonly name: string }).name}`,
          );
          return work();
        },
      }));
    },
  });
  const around = (driver: Driver): Driver =>
    withMiddleware(
      driver,
      (statement, next) => {
        statements.push(`${statement.kind} ${entityOf(statement).name}`);
        return next(statement);
      },
      { joins: true },
    );

  function recording(context: PluginContext, id: string): PluginContext {
    const { hooks: own, records, routes: added } = context;
    return Object.freeze({
      ...context,
      provide(service, factory, options) {
        services.push(typeof service === "string" ? service : service.id);
        context.provide(service, factory, options);
      },
      hooks: {
        define: own.define,
        on(hook: HookName | ServiceToken<unknown>, fn: (payload: never) => void, options?: HookOptions) {
          const name = (typeof hook === "string" ? hook : hook?.id) as HookName;
          own.on(hook as HookName, counted(id, name, fn) as never, options);
          note(id, name, fn, options);
        },
      },
      routes: {
        ...added,
        add(route) {
          routes.push(`${route?.method?.toUpperCase()} ${route?.path}`);
          added.add(route);
        },
      },
      records: {
        ...records,
        policy(policy) {
          records.policy(policy);
          hasPolicy ||= policy.allows !== undefined;
        },
      },
    } satisfies PluginContext);
  }

  function watch(plugin: Plugin, user: () => User | null): Plugin {
    const { getUser } = plugin;
    services.push(...Object.keys(plugin.services ?? {}));
    for (const [name, fn] of Object.entries(plugin.hooks ?? {})) note(plugin.id, name as HookName, fn);
    for (const one of Object.values(plugin.endpoints ?? {}))
      routes.push(`${one?.method?.toUpperCase() ?? "GET"} ${one?.path}`);
    const hooks = Object.entries(plugin.hooks ?? {}).map(([name, fn]) => [name, counted(plugin.id, name, fn)]);
    return createPlugin({
      ...plugin,
      ...(hooks.length > 0 && { hooks: Object.fromEntries(hooks) }),
      ...(typeof getUser === "function" && {
        getUser: (request, context, state) => user() ?? getUser.call(plugin, request, context, state),
      }),
      setup: (context) => plugin.setup?.(recording(context, plugin.id)),
    });
  }

  return {
    hooks,
    services,
    hookNames,
    routes,
    operations,
    statements,
    calls,
    observer,
    around,
    decides: (about) =>
      about === "routes" ? hookNames.has("route:authorize") : hasPolicy || hookNames.has("operation:authorize"),
    watch,
  };
}

/** The features that definitions may require. */
const FEATURES = [
  "validation",
  ...["rules", "versioned", "soft-delete", "actions", "workflows", "remote-relations"],
  ...["password", "omit", "encrypted", "search", "field-rules"],
];

/** Makes a plugin that replaces all plugins that the plugins under test require, and those that decide. */
export function createStandIn(
  plugins: readonly Plugin[],
  recorder: Recorder,
): { readonly plugin: Plugin; context(): PluginContext } {
  const present = new Set(plugins.flatMap(({ id, provides }) => [id, ...provides]));
  const required = plugins.flatMap(({ requires }) => requires);
  let own: PluginContext | undefined;
  const plugin = createPlugin({
    id: "stand-in",
    wrapDriver: recorder.around,
    provides: [...new Set([...FEATURES, ...required])].filter((name) => !present.has(name)),
    setup(context) {
      own = context;
      context.hooks.on("operation:authorize", ({ decision }) => {
        if (!recorder.decides("operations")) decision.allowed = true;
      });
      context.hooks.on("route:authorize", (asked) => {
        if (!recorder.decides("routes")) decideByDefault(asked);
      });
    },
  });
  return { plugin, context: () => own as PluginContext };
}

/** Replaces a plugin that decides on rules of routes. */
function decideByDefault(asked: RouteAuthorization): void {
  const { kind, isAdmin } = asked.scope.principal;
  asked.allowed = asked.rules.some(
    (rule) => rule === "everyone" || isAdmin || (rule === "authenticated" && kind === "user"),
  );
}
