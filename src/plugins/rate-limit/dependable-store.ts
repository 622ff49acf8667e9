import { LRUCache } from "lru-cache";
import { describeError, isPromiseLike, type Logger, UnavailableError, withDeadline } from "../../kernel/index.ts";
import type { Rate, RateCount, RateLimitStore } from "./rate-limit-store.ts";

/** Milliseconds in which a store that failed is not asked, so that requests do not wait for it one by one. */
const REST_MS = 1_000;
/** Keys that run out of time one after the other before it is the store that is to blame, and not the key. */
const LATE_KEYS = 3;
/** Keys whose windows are remembered here; beyond it, those not heard of for longest are forgotten. */
const MAX_KEYS = 100_000;

/** What is done about a store that fails. */
export interface Dependable {
  readonly onFailure: "memory" | "refuse";
  /** Milliseconds to count one request. */
  readonly timeoutMs: number;
  readonly log: Logger;
}

/** Counts a request, whatever becomes of the store. */
export type CountRequest = (key: string, rate: Rate) => RateCount | Promise<RateCount>;

/** What this process knows of a key's window. */
interface Window {
  /** Requests that this process has not refused, or all of them where the store knows of more. */
  count: number;
  /** Whether the store has refused one. */
  isFull: boolean;
  endsAt: number;
  /** The store is not asked about this key before. */
  restUntil: number;
  /** Requests of this key that are with the store, or wait for their turn: one at a time, so that none needs a second connection. */
  turn: Promise<unknown> | undefined;
}

/**
 * Counts in a store while that works, and in this process all the time: what this process alone has let through is never
 * above the limit, and a key that is over it does not reach the store again before its window ends. Where the store fails, the
 * count of this process goes on, or the request is refused with UnavailableError (503). A key that the store takes too
 * long for rests alone. Never lets a request through that was not counted.
 */
export function createCounter(store: RateLimitStore, { onFailure, timeoutMs, log }: Dependable): CountRequest {
  let windows: LRUCache<string, Window> | undefined;
  let restUntil = 0;
  /** A store that answers at once counts in this process already. */
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

  /** The process's own count comes along with that of all. */
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
