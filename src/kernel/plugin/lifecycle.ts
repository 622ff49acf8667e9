import { didYouMean } from "../../entity/base/did-you-mean.ts";
import { isKeelsonError } from "../../entity/base/keelson-error.ts";
import { withDeadline } from "../async/promises.ts";
import type { ServiceContainer } from "../container/service-container.ts";
import { UnavailableError } from "../errors/errors.ts";
import { describeError, type Logger } from "../log/logger.ts";
import { isValidPlugin } from "./create-plugin.ts";
import type { KernelPlugin, SetUp } from "./kernel-plugin.ts";

/** Milliseconds between attempts to start while the database is unavailable. */
const RETRY_MS = 1_000;

/** The parts that are started and stopped. */
export interface LifecycleParts {
  /** In the order in which they are started. */
  readonly plugins: ReadonlyMap<KernelPlugin, SetUp>;
  readonly container: ServiceContainer;
  readonly log: Logger;
  /** Timeout in milliseconds for stopping each part; starting has no timeout. */
  readonly stopMs: number;
  /** Runs first, and again on each retry of the start. */
  connect(): Promise<void>;
  /** Runs last. */
  disconnect(): Promise<void>;
  /** @throws ConfigurationError when a plugin has declared something after setup */
  refuseLate(): void;
}

/** Starts the driver, then plugins in order; stops plugins in reverse order, then services, then the driver. */
export function createLifecycle({ plugins, container, log, stopMs, connect, disconnect, refuseLate }: LifecycleParts): {
  readonly ready: Promise<void>;
  /** @throws UnavailableError when it has been stopped */
  started(): Promise<void> | undefined;
  /** Runs the plugins' `closing` functions; undefined if no plugin has one. */
  closing(): Promise<unknown> | undefined;
  stop(): Promise<void>;
} {
  const running: KernelPlugin[] = [];
  let phase: "starting" | "started" | "failed" = "starting";
  let stopped = false;
  let attempt: Promise<void>;
  let nextAttempt = 0;

  async function run(): Promise<void> {
    phase = "starting";
    try {
      await connect();
      for (const [plugin, { context, state }] of plugins) {
        if (running.includes(plugin)) continue;
        refuseWhenStopped();
        await plugin.start?.(context, state);
        running.push(plugin);
        refuseLate();
      }
      refuseWhenStopped();
      refuseLate();
      phase = "started";
    } catch (error) {
      phase = "failed";
      // Only temporary failures are retried.
      const canHeal = isKeelsonError(error) && error.code === "DATABASE_UNAVAILABLE";
      nextAttempt = canHeal ? Date.now() + RETRY_MS : Number.POSITIVE_INFINITY;
      log.error("The app could not start", describeError(error));
      if (stopped) await shutDown(); // it was closed meanwhile: stop the parts that started since
      throw error;
    }
  }
  function refuseWhenStopped(): void {
    if (stopped) throw new UnavailableError("The app is closed");
  }
  async function shutDown(): Promise<void> {
    for (const plugin of running.splice(0).reverse()) await end(plugin, "stop");
    await quietly("services", () => container.dispose());
    await quietly("driver", disconnect);
  }
  async function end(plugin: KernelPlugin, which: "closing" | "stop"): Promise<void> {
    const { context, state } = plugins.get(plugin) as SetUp;
    await quietly(`plugin "${plugin.id}"`, () => plugin[which]?.(context, state));
  }
  /** Stopping always completes: failures and timeouts are logged, and the remaining parts are stopped. */
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
      if (phase === "started") return undefined;
      return phase === "failed" && Date.now() >= nextAttempt ? begin() : attempt;
    },
    closing() {
      const ending = running.filter((plugin) => plugin.closing !== undefined);
      return ending.length === 0 ? undefined : Promise.all(ending.map((plugin) => end(plugin, "closing")));
    },
    async stop() {
      await quietly("start", () => attempt.catch(() => {}));
      stopped = true;
      await shutDown();
    },
  };
}

/**
 * Orders plugins so that each comes after those it requires, otherwise as listed. Problems (duplicates, missing and
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

  /** The ids and capabilities that must come before a plugin. */
  const before = ({ id, requires, after = [] }: KernelPlugin): ReadonlySet<string> => {
    const others = plugins.filter((other) => other.before?.includes(id)).map((other) => other.id);
    const known = [...after, ...others].filter((name) => providers.has(name));
    return new Set([...requires, ...known]);
  };
  const ordered: KernelPlugin[] = [];
  const visit = (plugin: KernelPlugin, chain: readonly string[]): void => {
    if (ordered.includes(plugin)) return;
    if (chain.includes(plugin.id)) {
      problem(`Plugins wait for each other in a circular way: ${[...chain, plugin.id].join(" -> ")}`);
      return;
    }
    for (const name of before(plugin)) {
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
