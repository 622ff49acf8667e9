import type { Driver } from "../../gate/index.ts";
import { DatabaseUnavailableError } from "../../kernel/index.ts";

/** Resolves when the database answered lately, and rejects with DatabaseUnavailableError (503) when it did not. */
export type Readiness = (driver: Driver) => Promise<void>;

/**
 * Asks the database at most once per `cacheMs`, and once at a time, however many probes come in. No answer within
 * `timeoutMs` is a bad answer, so that a question that was lost does not keep the app from becoming ready again.
 */
export function createReadiness(cacheMs: number, timeoutMs: number): Readiness {
  let pending: Promise<void> | undefined;
  let last: { readonly until: number; readonly error: DatabaseUnavailableError | undefined } | undefined;

  const ask = async (driver: Driver): Promise<void> => {
    let error: DatabaseUnavailableError | undefined;
    try {
      await within(driver.ping(), timeoutMs);
    } catch (cause) {
      error = new DatabaseUnavailableError(undefined, { cause });
    }
    last = { until: performance.now() + cacheMs, error };
    pending = undefined;
    if (error !== undefined) throw error;
  };

  return async (driver) => {
    if (last !== undefined && performance.now() < last.until) {
      if (last.error !== undefined) throw last.error;
      return;
    }
    pending ??= ask(driver);
    await pending;
  };
}

async function within(promise: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DatabaseUnavailableError()), ms);
  });
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
