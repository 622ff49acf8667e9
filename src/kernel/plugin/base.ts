import { isKeelsonError } from "../../entity/base/keelson-error.ts";
import { withDeadline } from "../async/promises.ts";
import { ScopedContainer } from "../container/scoped-container.ts";
import type { ServiceContainer } from "../container/service-container.ts";
import { UnavailableError } from "../errors/errors.ts";
import type { HookRegistry } from "../hooks/hook-registry.ts";
import { describeError, type Logger } from "../log/logger.ts";
import type { Limits } from "../request/limits.ts";
import { errorContent, presentPlain } from "../request/present.ts";
import type { OpenScope, Principal, Scope, ScopeInit, Scopes } from "../request/scope.ts";
import type { KernelRoute } from "../routes/kernel-route.ts";
import type { DeclarationShapes } from "./declared-problems.ts";
import type { KernelConfig, KernelPlugin, SetUp } from "./kernel-plugin.ts";

/** The part of the kernel that a base uses. Plugins are ordered, but not set up yet. */
export interface Ground {
  readonly plugins: readonly KernelPlugin[];
  readonly container: ServiceContainer;
  readonly hooks: HookRegistry;
  readonly config: KernelConfig;
  readonly log: Logger;
  /** Routes of all plugins; complete once the app is set up. */
  routes(): readonly KernelRoute[];
  /** Runs in-process calls, once the app is set up. */
  readonly run: CallRunner["run"];
  /** @throws AuthenticationError when the user's id is not a non-empty string */
  toPrincipal(user: unknown): Principal;
  /** Reports a problem of the configuration. */
  problem(sentence: string): void;
}

/** The extension of the kernel that the first plugin of an app provides for the other plugins. */
export interface Base {
  /**
   * Returns the members that it adds to a plugin's context, or replaces there.
   * @param inSetup throws once setup is over; declaring members must call it with their name
   */
  contextOf(plugin: KernelPlugin, inSetup: (call: string) => void): object;
  /** The names of the hooks that it runs. */
  readonly hookNames: readonly string[];
  /** The members of plugins, hooks, endpoints and routes that it reads in addition to the kernel's. */
  readonly shapes: DeclarationShapes;
  /** Called once all plugins are set up. @throws ConfigurationError */
  complete(plugins: ReadonlyMap<KernelPlugin, SetUp>): CompletedBase;
}

/** A base that is ready for use. */
export interface CompletedBase {
  readonly scopes: Scopes;
  /** The rules of a route that has none of its own, for listings. */
  rulesOf(route: KernelRoute): readonly string[];
  /** Runs before plugins are started, and again on each retry of the start. */
  connect(): Promise<void>;
  /** Runs after plugins and services have stopped. */
  disconnect(): Promise<void>;
}

const NO_SHAPES: DeclarationShapes = { plugin: {}, hook: {}, endpoint: {}, route: {}, change: {} };

/** The default base, whose scopes have a caller and services only. */
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

/** Runs the calls of in-process clients, like RequestHandler runs requests. */
interface CallRunner {
  /**
   * Runs a call in its own scope, which is closed afterwards. It waits until the app has started, unless it is `early`.
   * @throws UnavailableError after `drain`; any error that prevents the app from starting
   */
  run<T>(
    principal: () => Principal,
    work: (scope: Scope) => Promise<T>,
    options?: { readonly early?: boolean },
  ): Promise<T>;
  /** Refuses new calls; resolves when those in flight have ended, or after the request timeout. */
  drain(): Promise<void>;
}

/** The parts of the kernel that in-process calls need. */
interface CallRunnerParts {
  readonly limits: Limits;
  readonly log: Logger;
  open(init: ScopeInit): OpenScope;
  started(): Promise<void> | undefined;
}

export function createCallRunner({ limits, log, open, started }: CallRunnerParts): CallRunner {
  let active = 0;
  let isClosing = false;
  let onIdle: (() => void) | undefined;

  return {
    async run(principal, work, { early = false } = {}) {
      if (!early) await started();
      if (isClosing) throw new UnavailableError("The app is closed");
      const scope = open({ principal: principal(), requestId: crypto.randomUUID() });
      active += 1;
      try {
        return await work(scope);
      } finally {
        await scope.close();
        active -= 1;
        if (active === 0) onIdle?.();
      }
    },
    async drain() {
      isClosing = true;
      if (active === 0) return;
      const idle = new Promise<void>((resolve) => (onIdle = resolve));
      const failed = (error: unknown): void => log.error("Stopping failed: calls in flight", describeError(error));
      await withDeadline(idle, limits.requestMs + limits.hookMs, "calls in flight").catch(failed);
    },
  };
}
