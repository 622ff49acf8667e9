import type { AnyEntity } from "../../../entity/index.ts";
import type { Driver } from "../../../gate/index.ts";
import type { Logger } from "../../../kernel/index.ts";

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
