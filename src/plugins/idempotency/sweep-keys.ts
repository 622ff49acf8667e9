import type { PluginContext } from "../../gate/index.ts";
import { describeError } from "../../kernel/index.ts";
import { KEY } from "./key-entity.ts";

/** What deletes keys from time to time. */
export interface Sweeping {
  /** Resolves when no deletion is in progress. */
  end(): Promise<void>;
}

/** Milliseconds between looks at most. */
const EVERY_MS = 600_000;
/** Keys of one statement, which must not hold up the requests of others. */
const BATCH = 1_000;

/** Deletes keys that have expired. Every process does so, and they do not get in each other's way. */
export function keepSwept(plugin: PluginContext, ttlMs: number): Sweeping {
  let sweep: Promise<void> = Promise.resolve();
  const timer = setInterval(
    () => {
      sweep = sweepKeys(plugin).catch((error: unknown) => {
        plugin.log.warn("Expired idempotency keys could not be deleted", describeError(error));
      });
    },
    Math.min(EVERY_MS, ttlMs),
  ).unref();
  return {
    end() {
      clearInterval(timer);
      return sweep;
    },
  };
}

/** Deletes all keys that have expired by now, a batch at a time. */
function sweepKeys({ runAs }: PluginContext): Promise<void> {
  return runAs("system", async (scope) => {
    const { driver } = scope;
    const expired = { expiresAt: { lte: scope.now() } };
    for (;;) {
      const rows = await driver.findMany(KEY, { where: expired, select: ["id"], limit: BATCH });
      if (rows.length > 0) await driver.deleteMany(KEY, { id: { in: rows.map(({ id }) => id) }, ...expired });
      if (rows.length < BATCH) return;
    }
  });
}
