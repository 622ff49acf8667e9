import { LRUCache } from "lru-cache";
import { type AnyEntity, ConfigurationError } from "../../entity/index.ts";
import type { Driver } from "../../gate/index.ts";
import type { Logger } from "../../kernel/index.ts";

/** What is counted against. */
export interface Rate {
  /** Requests of one window. */
  readonly limit: number;
  /** Seconds. */
  readonly window: number;
}

/** How far a key has come. */
export interface RateCount {
  /** Requests of this window, this one included; above the limit it may be any number above the limit. */
  readonly count: number;
  /** Milliseconds until the window ends. */
  readonly resetMs: number;
}

/** What a store is told when the app starts. */
export interface RateStoreHost {
  /** The app's base driver, connected. */
  readonly driver: Driver;
  readonly log: Logger;
}

/** Where requests are counted: in this process, or where several processes see it. */
export interface RateLimitStore {
  readonly name: string;
  /** Entities that it keeps its counts in. @default none */
  readonly entities?: readonly AnyEntity[] | undefined;
  /** The app starts. */
  open?(host: RateStoreHost): void | Promise<void>;
  /**
   * Counts one request of a key, so that no two are given the same count. A key's window begins with its first request.
   * @param key up to some hundred characters, any of them
   */
  hit(key: string, rate: Rate): RateCount | Promise<RateCount>;
  /** The app stops. What was handed in by others stays open. */
  close?(): void | Promise<void>;
}

/** Options of `memoryRateStore`. */
export interface MemoryRateStoreOptions {
  /**
   * Keys that are remembered; beyond it, those that were not heard of for longest are forgotten, and begin anew.
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
 * Counts in this process: exact for one process, and nothing is waited for. With several, each counts for itself.
 * @throws ConfigurationError for a `maxKeys` that is not a whole number from 1 to 10000000
 */
export function memoryRateStore({ maxKeys = 100_000 }: MemoryRateStoreOptions = {}): RateLimitStore {
  if (!Number.isInteger(maxKeys) || maxKeys < 1 || maxKeys > 10_000_000)
    throw new ConfigurationError("memoryRateStore: `maxKeys` must be a whole number from 1 to 10000000");
  let windows: LRUCache<string, Window> | undefined;
  return Object.freeze<RateLimitStore>({
    name: "memory",
    hit(key, { window }): RateCount {
      // Made by the first request: as a stand-in for a shared store it may never be used.
      windows ??= new LRUCache<string, Window>({ max: maxKeys });
      // A monotonic clock, which cannot be set.
      const now = performance.now();
      let found = windows.get(key);
      if (found === undefined || found.endsAt <= now) {
        found = { count: 0, endsAt: now + window * 1_000 };
        windows.set(key, found);
      }
      found.count++;
      // A sum and a difference of fractions: the rest of a new window may come out a trace longer than the window.
      return { count: found.count, resetMs: Math.min(found.endsAt - now, window * 1_000) };
    },
  });
}
