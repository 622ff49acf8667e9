import { LRUCache } from "lru-cache";
import { describeError, isPromiseLike, type Logger, UnavailableError, withDeadline } from "../../kernel/index.ts";
import type { Rate, RateCount, RateLimitStore } from "./rate-limit-store.ts";

/** Milliseconds for which a failed store is not used, so that requests do not each wait for it. */
const REST_MS = 1_000;
/** Consecutive keys that time out before the whole store counts as failed, instead of single keys. */
const LATE_KEYS = 3;
/** The most keys whose windows are remembered here. Beyond it, the least recently used are forgotten. */
const MAX_KEYS = 100_000;

/** The handling of a failing store. */
export interface Dependable {
  readonly onFailure: "memory" | "refuse";
  /** Milliseconds that the store has to count one request. */
  readonly timeoutMs: number;
  readonly log: Logger;
}

/** Counts a request, even if the store fails. */
export type CountRequest = (key: string, rate: Rate) => RateCount | Promise<RateCount>;

/** This process's view of a key's window. */
interface Window {
  /** Requests that this process has let through, or the store's count if that is higher. */
  count: number;
  /** Whether the store has refused a request. */
  isFull: boolean;
  endsAt: number;
  /** Until then, the store is not used for this key. */
  restUntil: number;
  /**
   * The pending request of this key. The store is called for one request of a key at a time, so that a key needs one
   * connection.
   */
  turn: Promise<unknown> | undefined;
}

/**
 * Counts in a store while it works, and always in this process, too. The requests that this process lets through never
 * exceed the limit, and a key over its limit does not reach the store again before its window ends. When the store
 * fails, this process's own count is used, or the request is refused with UnavailableError (503). If the store times
 * out for a single key, only that key is paused. A request that was not counted is never let through.
 */
export function createCounter(store: RateLimitStore, { onFailure, timeoutMs, log }: Dependable): CountRequest {
  let windows: LRUCache<string, Window> | undefined;
  let restUntil = 0;
  /** Whether the store is synchronous, and so counts in this process already. */
  let isAtOnce = false;
  const late = new Set<string>();

  function windowOf(key: string, { window }: Rate, now: number): Window {
    windows ??= new LRUCache<string, Window>({ max: MAX_KEYS });
    let found = windows.get(key);
    if (found === undefined) {
      found = { count: 0, isFull: false, endsAt: now + window * 1_000, restUntil: 0, turn: undefined };
      windows.set(key, found);
    } else if (found.endsAt <= now) {
      found.count = 0;
      found.isFull = false;
      found.endsAt = now + window * 1_000;
    }
    return found;
  }

  const known = (count: number, { endsAt }: Window): RateCount => ({
    count,
    resetMs: Math.max(0, endsAt - performance.now()),
  });

  function instead(found: Window): RateCount {
    if (onFailure === "memory") return known(found.count, found);
    throw new UnavailableError("Requests cannot be counted at the moment");
  }

  function failed(error: unknown, key: string, found: Window, isLate: boolean): RateCount {
    const now = performance.now();
    if (isLate) late.add(key);
    if (!isLate || late.size >= LATE_KEYS) {
      if (now >= restUntil)
        log.error("The store of rate limits failed", { store: store.name, onFailure, ...describeError(error) });
      restUntil = now + REST_MS;
      late.clear();
    } else if (now >= found.restUntil)
      log.warn("The store of rate limits takes too long for a key", { store: store.name, onFailure });
    found.restUntil = now + REST_MS;
    return instead(found);
  }

  /** Merges the store's count into this process's own. */
  function noted(found: Window, counted: RateCount, { limit }: Rate): RateCount {
    late.clear();
    found.isFull = counted.count > limit;
    found.count = Math.max(found.count, counted.count);
    found.endsAt = performance.now() + counted.resetMs;
    return counted;
  }

  function ask(key: string, rate: Rate, found: Window): RateCount | Promise<RateCount> {
    let isOver = false;
    let asking: RateCount | Promise<RateCount>;
    try {
      asking =
        found.turn === undefined
          ? store.hit(key, rate)
          : found.turn.then(() => (isOver || found.isFull ? known(rate.limit + 1, found) : store.hit(key, rate)));
    } catch (error) {
      return failed(error, key, found, false);
    }
    if (!isPromiseLike(asking)) {
      isAtOnce = true;
      return asking;
    }
    const turn = asking.then(
      () => {},
      () => {},
    );
    found.turn = turn;
    void turn.then(() => {
      if (found.turn === turn) found.turn = undefined;
    });
    let failure: { readonly error: unknown } | undefined;
    const answered = asking.catch((error: unknown) => {
      failure = { error };
      throw error;
    });
    return withDeadline(answered, timeoutMs, "The store of rate limits").then(
      (counted) => noted(found, counted, rate),
      (error: unknown) => {
        isOver = true;
        return failed(error, key, found, failure === undefined);
      },
    );
  }

  return (key, rate) => {
    const now = performance.now();
    if (isAtOnce && now >= restUntil) {
      try {
        return store.hit(key, rate);
      } catch (error) {
        return failed(error, key, windowOf(key, rate, now), false);
      }
    }
    const found = windowOf(key, rate, now);
    if (found.count >= rate.limit) return known(rate.limit + 1, found);
    found.count++;
    return now < restUntil || now < found.restUntil ? instead(found) : ask(key, rate, found);
  };
}
