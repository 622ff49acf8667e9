import { didYouMean } from "../../entity/base/did-you-mean.ts";
import { ConfigurationError } from "../../entity/base/keelson-error.ts";
import { isPromiseLike } from "../async/promises.ts";
import {
  type ServiceFactory,
  type ServiceName,
  type ServiceOptions,
  serviceId,
} from "../container/service-container.ts";
import { type HookRegistry, runHooks } from "../hooks/hook-registry.ts";
import type { IdentityOptions } from "../http/find-principal.ts";
import type { KernelRoute, KernelRouteContext, KernelRouteInput } from "../routes/kernel-route.ts";
import {
  type DeclarationShapes,
  endpointProblems,
  hookProblems,
  pluginProblems,
  routeProblems,
  shapeProblems,
} from "./declared-problems.ts";
import type { KernelPlugin, KernelPluginContext, SetUp } from "./kernel-plugin.ts";

/** The registries that receive declarations. */
export interface DeclarationTargets {
  readonly hooks: HookRegistry;
  /** Names of the hooks of the kernel and its base. */
  readonly hookNames: readonly string[];
  readonly shapes: DeclarationShapes;
  register(id: string, factory: ServiceFactory, options?: ServiceOptions): void;
  addRoute(plugin: string, route: KernelRouteInput): void;
  problem(sentence: string): void;
}

/** The declaring members of a plugin's context. */
export interface DeclaringContext {
  readonly hooks: KernelPluginContext["hooks"];
  readonly problem: KernelPluginContext["problem"];
  readonly provide: KernelPluginContext["provide"];
  readonly addRoute: KernelPluginContext["routes"]["add"];
  readonly onRoute: KernelPluginContext["routes"]["onRoute"];
  /** @throws ConfigurationError once setup is over */
  inSetup(call: string): void;
}

/** The declarations of plugins: open during setup, closed permanently afterwards. */
export interface Declarations {
  contextOf(plugin: KernelPlugin): DeclaringContext;
  /** Registers the declarations in a plugin's options, then runs its `setup`. @returns the plugin's state */
  declare(plugin: KernelPlugin, context: KernelPluginContext): unknown;
  /** Reports unknown hooks. Afterwards every declaration throws. */
  close(): void;
  /** Returns a route with the changes of plugins; invalid changes are reported. */
  changed(route: KernelRoute): KernelRoute;
  /** @throws ConfigurationError when something was declared after `close`, even if the plugin caught the error */
  refuseLate(): void;
}

/** Collects the declarations of plugins and reports those that are invalid or too late. */
export function createDeclarations(targets: DeclarationTargets): Declarations {
  const { hooks, hookNames, shapes, problem } = targets;
  const definers = new Map<string, string>();
  const listeners: { readonly plugin: string; readonly name: string }[] = [];
  const registrars = new Map<string, string>();
  const providers = new Map<string, string>();
  const changes: {
    readonly plugin: string;
    readonly change: Parameters<KernelPluginContext["routes"]["onRoute"]>[0];
  }[] = [];
  const late: string[] = [];
  let isOpen = true;

  function contextOf({ id: plugin }: KernelPlugin): DeclaringContext {
    function inSetup(call: string): void {
      if (isOpen) return;
      const sentence = `Plugin "${plugin}" called ${call} after setup, when it would have no effect; call it in setup()`;
      late.push(sentence);
      throw new ConfigurationError(sentence);
    }
    function report(sentences: readonly string[]): boolean {
      for (const sentence of sentences) problem(`plugin "${plugin}": ${sentence}`);
      return sentences.length > 0;
    }
    return {
      inSetup,
      hooks: {
        on(hook, fn, options) {
          const name = nameOf(hook);
          inSetup(`hooks.on("${name}")`);
          if (report(hookProblems(name, fn, options, shapes.hook))) return;
          listeners.push({ plugin, name });
          hooks.on(plugin, name, fn as never, options);
        },
        define(hook) {
          const name = nameOf(hook);
          inSetup(`hooks.define("${name}")`);
          const owner = hookNames.includes(name) ? "the kernel" : definers.get(name);
          if (owner !== undefined) report([`the hook "${name}" is defined by ${owner} already`]);
          else definers.set(name, `plugin "${plugin}"`);
          return (payload) => runHooks(hooks.list(name as never), payload as never);
        },
      },
      problem(sentence) {
        inSetup(`problem("${sentence}")`);
        problem(sentence);
      },
      provide(service, factory, options) {
        const id = serviceId(service);
        inSetup(`provide("${id}")`);
        const other = registrars.get(id);
        if (other !== undefined)
          return problem(
            `Service "${id}" is registered twice, by the plugins "${other}" and "${plugin}"; ${oneOf(other)}`,
          );
        registrars.set(id, plugin);
        targets.register(id, factory, options);
      },
      addRoute(route) {
        inSetup(`routes.add(${route?.method} ${route?.path})`);
        if (!report(routeProblems(route, shapes.route))) targets.addRoute(plugin, route);
      },
      onRoute(change) {
        inSetup("routes.onRoute");
        if (!report(typeof change === "function" ? [] : ["routes.onRoute takes a function"]))
          changes.push({ plugin, change });
      },
    };
  }

  return {
    contextOf,
    declare(plugin, context) {
      const report = (sentence: string): void => problem(`plugin "${plugin.id}": ${sentence}`);
      for (const name of new Set(plugin.provides)) {
        const other = providers.get(name);
        if (other === undefined) providers.set(name, plugin.id);
        else problem(`Plugins "${other}" and "${plugin.id}" both provide "${name}"; ${oneOf(other)}`);
      }
      const problems = pluginProblems(plugin, shapes.plugin);
      for (const sentence of problems) report(sentence);
      for (const [id, factory] of Object.entries(plugin.services ?? {})) context.provide(id, factory);
      for (const [name, fn] of Object.entries(plugin.hooks ?? {})) if (fn !== undefined) context.hooks.on(name, fn);
      let state: unknown;
      for (const [action, given] of Object.entries(plugin.endpoints ?? {})) {
        const wrong = endpointProblems(action, given, shapes.endpoint);
        for (const sentence of wrong) report(sentence);
        if (wrong.length > 0) continue;
        const { method = "GET", rules = [], ...others } = given;
        const names = rules.map((rule) => (typeof rule === "string" ? rule : rule.name));
        const handler = (call: KernelRouteContext): unknown => given.handler(call, state);
        context.routes.add({ ...others, method, action, rules: names, handler });
      }
      if (problems.length > 0) return undefined;
      state = plugin.setup?.(context);
      if (!isPromiseLike(state)) return state;
      state.then(undefined, () => {}); // the plugin is refused in any case
      report(
        "setup returned a promise, so what it declares would come too late; make it synchronous and wait in start()",
      );
      return undefined;
    },
    close() {
      isOpen = false;
      for (const { plugin, name } of listeners.splice(0)) {
        if (hookNames.includes(name) || definers.has(name)) continue;
        const hint = didYouMean(name, [...hookNames, ...definers.keys()]);
        problem(
          `plugin "${plugin}": there is no hook "${name}"; a plugin that runs hooks of its own names them with hooks.define().${hint}`,
        );
      }
    },
    changed(route) {
      let result = route;
      for (const { plugin, change } of changes) {
        const given = change(result, problem);
        if (given === undefined) continue;
        const wrong = shapeProblems(given, shapes.change);
        for (const sentence of wrong)
          problem(`plugin "${plugin}": routes.onRoute, for ${route.method} ${route.path}: ${sentence}`);
        if (wrong.length === 0) result = Object.freeze({ ...result, ...given });
      }
      return result;
    },
    refuseLate() {
      if (late.length > 0) throw new ConfigurationError(late);
    },
  };
}

/** The name of a hook, or the invalid value passed instead. */
function nameOf(hook: ServiceName): string {
  const { id } = (hook ?? {}) as { readonly id?: unknown };
  return typeof id === "string" ? id : (hook as string);
}

function oneOf(first: string): string {
  return `leave one of them out, or put yours in the place of the other with defaults.replace("${first}", yours)`;
}

type GetUser = IdentityOptions["getUser"];

/**
 * Chooses the function that identifies callers: the configuration's, or a plugin's. Two of them are a configuration
 * problem: one would be ignored while its author believes that it protects the app.
 */
export function chooseGetUser(
  own: GetUser,
  plugins: ReadonlyMap<KernelPlugin, SetUp>,
  problem: (sentence: string) => void,
): GetUser {
  const found = [...plugins].filter(([plugin]) => plugin.getUser !== undefined);
  const names = found.map(([{ id }]) => `plugin "${id}"`);
  if (own !== undefined) names.unshift("`getUser` of the configuration");
  if (names.length > 1) problem(`Callers are recognised by ${names.join(" and ")}; only one of them can do that`);
  const [first] = found;
  if (first === undefined) return own;
  const [plugin, { context, state }] = first;
  return (request) => plugin.getUser?.(request, context, state);
}
