import type { ServiceContainer } from "../container/service-container.ts";
import { DatabaseUnavailableError } from "../errors/errors.ts";
import { describeError } from "../errors/handle-error.ts";
import type { Driver } from "../ports/driver.ts";
import type { Logger } from "../ports/logger.ts";
import type { Plugin, PluginContext } from "./plugin.ts";

/** Milliseconds between attempts to start while the database is away. */
const RETRY_MS = 1_000;

/** What is started and stopped together. */
export interface LifecycleParts {
  readonly plugins: readonly Plugin[];
  readonly contexts: ReadonlyMap<Plugin, PluginContext>;
  readonly driver: Driver;
  readonly container: ServiceContainer;
  readonly log: Logger;
  start(): Promise<void>;
}

/** Starts and stops: driver, then plugins in order; plugins in reverse, services, then driver. */
export function createLifecycle({ plugins, contexts, driver, container, log, start }: LifecycleParts): {
  readonly ready: Promise<void>;
  started(): Promise<void> | undefined;
  stop(): Promise<void>;
} {
  const running: Plugin[] = [];
  let state: "starting" | "started" | "failed" = "starting";
  let attempt: Promise<void>;
  let nextAttempt = 0;

  async function run(): Promise<void> {
    state = "starting";
    try {
      await start();
      for (const plugin of plugins) {
        if (running.includes(plugin)) continue;
        await plugin.start?.(contexts.get(plugin) as PluginContext);
        running.push(plugin);
      }
      state = "started";
    } catch (error) {
      state = "failed";
      // Only what can heal by itself is worth another try.
      nextAttempt = error instanceof DatabaseUnavailableError ? Date.now() + RETRY_MS : Number.POSITIVE_INFINITY;
      log.error("The app could not start", describeError(error));
      throw error;
    }
  }
  const begin = (): Promise<void> => {
    attempt = run();
    attempt.catch(() => {}); // requests report it; an app nobody calls must not crash the process
    return attempt;
  };
  const ready = begin();

  return {
    ready,
    started() {
      if (state === "started") return undefined;
      return state === "failed" && Date.now() >= nextAttempt ? begin() : attempt;
    },
    async stop() {
      await attempt.catch(() => {});
      for (const plugin of running.splice(0).reverse())
        await quietly(log, `plugin "${plugin.id}"`, () => plugin.stop?.(contexts.get(plugin) as PluginContext));
      await quietly(log, "services", () => container.dispose());
      await quietly(log, "driver", () => driver.disconnect());
    },
  };
}

/** Stopping always completes: a failure is logged, and the rest is stopped. */
async function quietly(log: Logger, what: string, stop: () => unknown): Promise<void> {
  try {
    await stop();
  } catch (error) {
    log.error(`Stopping failed: ${what}`, describeError(error));
  }
}
