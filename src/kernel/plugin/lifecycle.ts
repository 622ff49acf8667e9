import { isKeelsonError } from "../../entity/keelson-error.ts";
import { withDeadline } from "../async/promises.ts";
import type { ServiceContainer } from "../container/service-container.ts";
import { UnavailableError } from "../errors/errors.ts";
import { describeError, type Logger } from "../log/logger.ts";
import { didYouMean } from "../text/did-you-mean.ts";
import { isValidPlugin } from "./create-plugin.ts";
import type { KernelPlugin, KernelPluginContext } from "./kernel-plugin.ts";

/** Milliseconds between attempts to start while the database is away. */
const RETRY_MS = 1_000;

/** What is started and stopped together. */
export interface LifecycleParts {
  readonly plugins: readonly KernelPlugin[];
  readonly contexts: ReadonlyMap<KernelPlugin, KernelPluginContext>;
  readonly container: ServiceContainer;
  readonly log: Logger;
  /** Milliseconds that each part gets to stop; starting takes as long as it takes. */
  readonly stopMs: number;
  /** Runs first; again when the start is tried again. */
  connect(): Promise<void>;
  /** Runs last. */
  disconnect(): Promise<void>;
  /** @throws ConfigurationError when a plugin has declared something after setup */
  refuseLate(): void;
}

/** Starts and stops: driver, then plugins in order; plugins in reverse, services, then driver. */
export function createLifecycle({
  plugins,
  contexts,
  container,
  log,
  stopMs,
  connect,
  disconnect,
  refuseLate,
}: LifecycleParts): {
  readonly ready: Promise<void>;
  /** @throws UnavailableError when it was stopped */
  started(): Promise<void> | undefined;
  stop(): Promise<void>;
} {
  const running: KernelPlugin[] = [];
  let state: "starting" | "started" | "failed" = "starting";
  let stopped = false;
  let attempt: Promise<void>;
  let nextAttempt = 0;

  async function run(): Promise<void> {
    state = "starting";
    try {
      await connect();
      for (const plugin of plugins) {
        if (running.includes(plugin)) continue;
        refuseWhenStopped();
        await plugin.start?.(contexts.get(plugin) as KernelPluginContext);
        running.push(plugin);
        refuseLate();
      }
      refuseWhenStopped();
      refuseLate();
      state = "started";
    } catch (error) {
      state = "failed";
      // Only temporary failures are retried.
      const canHeal = isKeelsonError(error) && error.code === "DATABASE_UNAVAILABLE";
      nextAttempt = canHeal ? Date.now() + RETRY_MS : Number.POSITIVE_INFINITY;
      log.error("The app could not start", describeError(error));
      if (stopped) await shutDown(); // it was closed meanwhile: stop what started late, too
      throw error;
    }
  }
  function refuseWhenStopped(): void {
    if (stopped) throw new UnavailableError("The app is closed");
  }
  async function shutDown(): Promise<void> {
    for (const plugin of running.splice(0).reverse())
      await quietly(`plugin "${plugin.id}"`, () => plugin.stop?.(contexts.get(plugin) as KernelPluginContext));
    await quietly("services", () => container.dispose());
    await quietly("driver", disconnect);
  }
  /** Stopping always completes: failures and timeouts are logged, and the rest is stopped. */
  async function quietly(what: string, stop: () => unknown): Promise<void> {
    try {
      await withDeadline((async () => stop())(), stopMs, what);
    } catch (error) {
      log.error(`Stopping failed: ${what}`, describeError(error));
    }
  }
  const begin = (): Promise<void> => {
    attempt = run();
    attempt.catch(() => {}); // `run` logs it and requests report it; an unhandled rejection would end the process
    return attempt;
  };
  const ready = begin();

  return {
    ready,
    started() {
      refuseWhenStopped();
      if (state === "started") return undefined;
      return state === "failed" && Date.now() >= nextAttempt ? begin() : attempt;
    },
    async stop() {
      await quietly("start", () => attempt.catch(() => {}));
      stopped = true;
      await shutDown();
    },
  };
}

/**
 * Orders plugins so that each comes after what it requires, otherwise as listed. Problems (duplicates, missing and
 * circular requirements, values that are not plugins) are reported; the rest is ordered.
 */
export function orderPlugins(input: Iterable<unknown>, problem: (sentence: string) => void): KernelPlugin[] {
  const plugins: KernelPlugin[] = [];
  for (const candidate of input) {
    if (!isValidPlugin(candidate)) problem(describeStranger(candidate));
    else if (plugins.some(({ id }) => id === candidate.id)) problem(`Plugin "${candidate.id}" is in the list twice`);
    else plugins.push(candidate);
  }
  const providers = new Map<string, KernelPlugin>();
  for (const plugin of plugins)
    for (const name of [plugin.id, ...plugin.provides]) if (!providers.has(name)) providers.set(name, plugin);

  const ordered: KernelPlugin[] = [];
  const visit = (plugin: KernelPlugin, chain: readonly string[]): void => {
    if (ordered.includes(plugin)) return;
    if (chain.includes(plugin.id)) {
      problem(`Plugins require each other in a circular way: ${[...chain, plugin.id].join(" -> ")}`);
      return;
    }
    for (const name of plugin.requires) {
      const provider = providers.get(name);
      if (provider === undefined)
        problem(
          `Plugin "${plugin.id}" requires "${name}", which is not in the list.${didYouMean(name, providers.keys())}`,
        );
      else if (provider !== plugin) visit(provider, [...chain, plugin.id]);
    }
    if (!ordered.includes(plugin)) ordered.push(plugin);
  };
  for (const plugin of plugins) visit(plugin, []);
  return ordered;
}

function describeStranger(value: unknown): string {
  if (typeof value === "function")
    return `The plugin list contains a function (${value.name || "anonymous"}); call it: ${value.name || "plugin"}()`;
  return "The plugin list contains something that createPlugin did not make";
}
