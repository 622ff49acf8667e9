import { describeError, isPromiseLike, type Logger, UnavailableError, withDeadline } from "../../../kernel/index.ts";
import type { Rate, RateCount, RateLimitStore } from "../rate-limit-store.ts";
import { memoryRateStore } from "./memory-rate-store.ts";

/** Milliseconds in which a store that failed is not asked, so that requests do not wait for it one by one. */
const REST_MS = 1_000;

/** What is done about a store that fails. */
export interface Dependable {
  readonly onFailure: "memory" | "refuse";
  /** Milliseconds to count one request. */
  readonly timeoutMs: number;
  readonly log: Logger;
}

/** Counts a request, whatever becomes of the store. */
export type CountRequest = (key: string, rate: Rate) => RateCount | Promise<RateCount>;

/**
 * Counts in a store while that works. Otherwise in this process, where a limit is still one, or not at all: then the
 * request is refused with UnavailableError (503). Never lets a request through that was not counted.
 */
export function createCounter(store: RateLimitStore, { onFailure, timeoutMs, log }: Dependable): CountRequest {
  const standIn = memoryRateStore();
  let restUntil = 0;
  const instead: CountRequest = (key, rate) => {
    if (onFailure === "memory") return standIn.hit(key, rate);
    throw new UnavailableError("Requests cannot be counted at the moment");
  };
  const failed = (error: unknown, key: string, rate: Rate): RateCount | Promise<RateCount> => {
    if (performance.now() >= restUntil)
      log.error("The store of rate limits failed", { store: store.name, onFailure, ...describeError(error) });
    restUntil = performance.now() + REST_MS;
    return instead(key, rate);
  };
  return (key, rate) => {
    if (performance.now() < restUntil) return instead(key, rate);
    try {
      const counted = store.hit(key, rate);
      if (!isPromiseLike(counted)) return counted;
      return withDeadline(counted, timeoutMs, "The store of rate limits").catch((error: unknown) =>
        failed(error, key, rate),
      );
    } catch (error) {
      return failed(error, key, rate);
    }
  };
}
