import type { Route } from "../../gate/index.ts";
import type { Principal } from "../../kernel/index.ts";
import type { RateLimitStore } from "./stores/rate-limit-store.ts";

/** Which routes a policy is for: those that fit all that is said here. */
export interface RateLimitRoutes {
  /** Names of entities. @default all, and endpoints of plugins */
  readonly entity?: string | readonly string[] | undefined;
  /** What routes do, as `keelson routes` lists it: `"create"`, `"login"`, the name of an endpoint. @default anything */
  readonly action?: string | readonly string[] | undefined;
  /** HTTP methods. @default all */
  readonly method?: string | readonly string[] | undefined;
}

/** A request as it is counted. */
export interface CountedRequest {
  readonly route: Route;
  readonly principal: Principal;
  /** The caller's address, an IPv6 one cut to its /64; undefined where the host does not tell. */
  readonly network: string | undefined;
}

/** How many requests are let through, from which callers, to what. */
export interface RateLimitPolicy {
  /** For headers and keys: lower-case letters, digits and hyphens. Each policy has its own. */
  readonly name: string;
  /** Requests that are let through in one window. */
  readonly limit: number;
  /** Seconds of a window, which begins with the first request that counts: 1 to 86400. */
  readonly window: number;
  /**
   * Which requests count together. `"address"`: those from one address, counted before the caller is recognised;
   * `"caller"`: those of one user, or of one address for anonymous callers; a function: those for which it returns the
   * same text, `undefined` for requests that do not count. The latter two are evaluated before any rule and before the
   * body is read.
   * @default "caller"
   */
  readonly by?: "address" | "caller" | ((request: CountedRequest) => string | undefined) | undefined;
  /** @default all routes */
  readonly for?: RateLimitRoutes | undefined;
  /** Whether there is one quota for all these routes, one for each entity, or one for each route. @default "policy" */
  readonly each?: "policy" | "entity" | "route" | undefined;
}

/** Options of `rateLimit`. */
export interface RateLimitOptions {
  /**
   * What is limited, asked in this order, those by address first. The first one that is used up refuses the request.
   * @default 1000 requests a minute from an address, and 300 of a caller
   */
  readonly policies?: readonly RateLimitPolicy[] | undefined;
  /** Where requests are counted. @default in this process: `memoryRateStore()` */
  readonly store?: RateLimitStore | undefined;
  /**
   * Proxies that are trusted to report where a request comes from: how many there are between the internet and the app,
   * or their addresses and networks (CIDR). `X-Forwarded-For` is read from right to left, and no further than they go.
   * @default none: the header is not read
   */
  readonly trustedProxies?: number | readonly string[] | undefined;
  /**
   * What happens while the store is away: `"memory"` counts in this process until it is back, `"refuse"` answers 503.
   * @default "memory"
   */
  readonly onStoreFailure?: "memory" | "refuse" | undefined;
  /** Milliseconds that the store has to count one request. @default 500 */
  readonly storeTimeoutMs?: number | undefined;
}
