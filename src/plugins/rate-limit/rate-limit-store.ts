import { LRUCache } from "lru-cache";
import { type AnyEntity, ConfigurationError } from "../../entity/index.ts";
import type { Driver } from "../../gate/index.ts";
import type { Logger } from "../../kernel/index.ts";

/** The limit that a request is counted against. */
export interface Rate {
  /** The most requests in one window. */
  readonly limit: number;
  /** Seconds. */
  readonly window: number;
}

/** The count of a key. */
export interface RateCount {
  /** Requests in this window, including this one. Above the limit, it may be any number above the limit. */
  readonly count: number;
  /** Milliseconds until the window ends. */
  readonly resetMs: number;
}

/** The parts of the app that a store gets when the app starts. */
export interface RateStoreHost {
  /** The app's base driver, connected. */
  readonly driver: Driver;
  readonly log: Logger;
}

/** Counts requests, in this process or in a place that several processes share. */
export interface RateLimitStore {
  readonly name: string;
  /** Entities that store the counts. @default none */
  readonly entities?: readonly AnyEntity[] | undefined;
  /** Called when the app starts. */
  open?(host: RateStoreHost): void | Promise<void>;
  /**
   * Counts one request of a key. Concurrent requests get different counts. A key's window begins with its first
   * request.
   * @param key any text of up to some hundred characters
   */
  hit(key: string, rate: Rate): RateCount | Promise<RateCount>;
  /** Called when the app stops. Clients that were passed to the store stay open. */
  close?(): void | Promise<void>;
}

/** Options of `memoryRateStore`. */
export interface MemoryRateStoreOptions {
  /**
   * The most keys that are remembered. Beyond it, the least recently used are forgotten and start again.
   * @default 100000
   */
  readonly maxKeys?: number | undefined;
}

/** A key's window. */
interface Window {
  count: number;
  readonly endsAt: number;
}

/**
 * Counts in this process, synchronously. The counts are exact for one process; several processes count independently.
 * @throws ConfigurationError for a `maxKeys` that is not a whole number from 1 to 10000000
 */
export function memoryRateStore({ maxKeys = 100_000 }: MemoryRateStoreOptions = {}): RateLimitStore {
  if (!Number.isInteger(maxKeys) || maxKeys < 1 || maxKeys > 10_000_000)
    throw new ConfigurationError("memoryRateStore: `maxKeys` must be a whole number from 1 to 10000000");
  let windows: LRUCache<string, Window> | undefined;
  return Object.freeze<RateLimitStore>({
    name: "memory",
    hit(key, { window }): RateCount {
      // Created by the first request. As the fallback of a shared store it may never be used.
      windows ??= new LRUCache<string, Window>({ max: maxKeys });
      // A monotonic clock, which cannot be changed.
      const now = performance.now();
      let found = windows.get(key);
      if (found === undefined || found.endsAt <= now) {
        found = { count: 0, endsAt: now + window * 1_000 };
        windows.set(key, found);
      }
      found.count++;
      // Rounding errors: the rest of a new window may come out slightly longer than the window.
      return { count: found.count, resetMs: Math.min(found.endsAt - now, window * 1_000) };
    },
  });
}
