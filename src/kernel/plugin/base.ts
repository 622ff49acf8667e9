import { isKeelsonError } from "../../entity/keelson-error.ts";
import { ScopedContainer } from "../container/scoped-container.ts";
import type { ServiceContainer } from "../container/service-container.ts";
import type { HookRegistry } from "../hooks/hook-registry.ts";
import type { Logger } from "../log/logger.ts";
import { errorContent, presentPlain } from "../request/present.ts";
import type { Principal } from "../request/principal.ts";
import type { Scopes } from "../request/scope.ts";
import type { KernelRoute } from "../routes/kernel-route.ts";
import type { CallRunner } from "./call-runner.ts";
import type { DeclarationShapes } from "./declared-problems.ts";
import type { KernelConfig, KernelPlugin, KernelPluginContext } from "./kernel-plugin.ts";

/** What the base of an app is laid on: the kernel, when its plugins are in order and none is set up. */
export interface Ground {
  readonly plugins: readonly KernelPlugin[];
  readonly container: ServiceContainer;
  readonly hooks: HookRegistry;
  readonly config: KernelConfig;
  readonly log: Logger;
  /** Routes of all plugins; complete once the app is set up. */
  routes(): readonly KernelRoute[];
  /** Runs calls in the process, once the app is set up. */
  readonly run: CallRunner["run"];
  /** @throws AuthenticationError when the user's id is not a non-empty string */
  toPrincipal(user: unknown): Principal;
  /** Reports a problem of the configuration. */
  problem(sentence: string): void;
}

/** What the first plugin of an app adds to the kernel, for the plugins after it. */
export interface Base {
  /**
   * Members of a plugin's context besides the kernel's; those of the same name take its place.
   * @param inSetup throws once setup is over; what declares calls it, with what was called
   */
  contextOf(plugin: KernelPlugin, inSetup: (call: string) => void): object;
  /** Names of hooks that it runs. */
  readonly hookNames: readonly string[];
  /** What it reads of plugins, hooks, endpoints and routes besides what the kernel does. */
  readonly shapes: DeclarationShapes;
  /** Called once all plugins are set up. @throws ConfigurationError */
  complete(contexts: ReadonlyMap<KernelPlugin, KernelPluginContext>): CompletedBase;
}

/** A base that is ready to be used. */
export interface CompletedBase {
  readonly scopes: Scopes;
  /** Rules of a route that has none of its own, for listings. */
  rulesOf(route: KernelRoute): readonly string[];
  /** Runs before plugins are started; again when the start is tried again. */
  connect(): Promise<void>;
  /** Runs when plugins and services have stopped. */
  disconnect(): Promise<void>;
}

const NO_SHAPES: DeclarationShapes = { plugin: {}, hook: {}, endpoint: {}, route: {} };

/** The base of an app whose first plugin lays none: scopes with a caller and services. */
export function plainBase({ container }: Ground): Base {
  const scopes: Scopes = {
    open(init) {
      const { principal, requestId } = init;
      const values = new Map<string, unknown>([
        ["currentUser", principal.user],
        ["requestId", requestId],
      ]);
      const services = new ScopedContainer(container, values);
      return { ...init, exchange: init.exchange, services, close: () => services.dispose() };
    },
    toJson: (value) => JSON.stringify(presentPlain(value, { wire: true })),
    presentError: async (error) => (isKeelsonError(error) ? errorContent(error) : undefined),
  };
  return {
    contextOf: () => ({}),
    hookNames: [],
    shapes: NO_SHAPES,
    complete: () => ({ scopes, rulesOf: () => [], connect: async () => {}, disconnect: async () => {} }),
  };
}
