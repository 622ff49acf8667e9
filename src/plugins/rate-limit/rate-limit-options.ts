import type { Route } from "../../gate/index.ts";
import { type Principal, unknownKeys } from "../../kernel/index.ts";
import { proxyProblems } from "./client-address.ts";
import type { RateLimitStore } from "./rate-limit-store.ts";

/** The routes of a policy: those that match all given properties. */
export interface RateLimitRoutes {
  /** Names of entities. @default all, and endpoints of plugins */
  readonly entity?: string | readonly string[] | undefined;
  /** Actions of routes, as `keelson routes` lists them: `"create"`, `"login"`, the name of an endpoint. @default all */
  readonly action?: string | readonly string[] | undefined;
  /** HTTP methods. @default all */
  readonly method?: string | readonly string[] | undefined;
}

/** A request that is counted. */
export interface CountedRequest {
  readonly route: Route;
  readonly principal: Principal;
  /** The caller's address, or the /64 network of an IPv6 address; undefined if the host does not provide it. */
  readonly network: string | undefined;
}

/** A limit on the number of requests, by caller and route. */
export interface RateLimitPolicy {
  /** The name in headers and keys: lower-case letters, digits and hyphens. Must be unique. */
  readonly name: string;
  /** The most requests in one window. */
  readonly limit: number;
  /** The length of a window in seconds, 1 to 86400. A window begins with the first request. */
  readonly window: number;
  /**
   * Which requests share a quota. `"address"`: requests from one address, counted before the caller is recognised.
   * `"caller"`: requests of one user, or of one address for anonymous callers. A function: requests for which it
   * returns the same text; `undefined` for requests that do not count. The last two are evaluated before any rule and
   * before the body is read.
   * @default "caller"
   */
  readonly by?: "address" | "caller" | ((request: CountedRequest) => string | undefined) | undefined;
  /** @default all routes */
  readonly for?: RateLimitRoutes | undefined;
  /** Whether all these routes share one quota, or each entity or each route has its own. @default "policy" */
  readonly each?: "policy" | "entity" | "route" | undefined;
}

/** Options of `rateLimit`. */
export interface RateLimitOptions {
  /**
   * The policies, checked in this order, those by address first. The first exceeded policy refuses the request.
   * @default 1000 requests a minute per address, and 300 per caller
   */
  readonly policies?: readonly RateLimitPolicy[] | undefined;
  /** The store that counts requests. @default in this process: `memoryRateStore()` */
  readonly store?: RateLimitStore | undefined;
  /**
   * Proxies that are trusted to report the address of a request: their number between the internet and the app, or
   * their addresses and networks (CIDR). `X-Forwarded-For` is read from right to left, only as far as these proxies.
   * @default none: the header is ignored
   */
  readonly trustedProxies?: number | readonly string[] | undefined;
  /**
   * The behaviour while the store fails: `"memory"` counts in this process until it works again, `"refuse"` responds
   * with 503.
   * @default "memory"
   */
  readonly onStoreFailure?: "memory" | "refuse" | undefined;
  /** Milliseconds that the store has to count one request. @default 500 */
  readonly storeTimeoutMs?: number | undefined;
}

type Names<Options> = Readonly<Record<keyof Options, true>>;
const KNOWN: Names<RateLimitOptions> = {
  policies: true,
  store: true,
  trustedProxies: true,
  onStoreFailure: true,
  storeTimeoutMs: true,
};
const KNOWN_OF_POLICY: Names<RateLimitPolicy> = {
  name: true,
  limit: true,
  window: true,
  by: true,
  for: true,
  each: true,
};
const KNOWN_OF_ROUTES: Names<RateLimitRoutes> = { entity: true, action: true, method: true };
/** A key of a structured field that never needs quoting. */
const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const LONGEST = { limit: 1_000_000_000, window: 86_400 };

/** The problems of the options. A misspelt option is a problem, because it would limit nothing. */
export function checkOptions(options: RateLimitOptions): string[] {
  const { policies = [], store, trustedProxies, onStoreFailure, storeTimeoutMs = 500 } = options;
  const problems = [...unknownNames(options, KNOWN, ""), ...proxyProblems(trustedProxies)];
  if (!Array.isArray(policies)) problems.push("`policies` must be a list");
  else {
    problems.push(...policies.flatMap(policyProblems));
    const names = policies.map((policy: Partial<RateLimitPolicy> | null) => policy?.name);
    for (const name of new Set(names))
      if (names.indexOf(name) !== names.lastIndexOf(name)) problems.push(`two policies are called "${String(name)}"`);
  }
  if (store !== undefined && typeof (store as Partial<typeof store> | null)?.hit !== "function")
    problems.push("`store` must be a store such as memoryRateStore()");
  if (onStoreFailure !== undefined && onStoreFailure !== "memory" && onStoreFailure !== "refuse")
    problems.push('`onStoreFailure` must be "memory" or "refuse"');
  if (!isWhole(storeTimeoutMs, 60_000)) problems.push("`storeTimeoutMs` must be a whole number from 1 to 60000");
  return problems;
}

function policyProblems(policy: unknown, index: number): string[] {
  if (typeof policy !== "object" || policy === null) return [`\`policies[${index}]\` is not a policy`];
  const { name, by = "caller", each = "policy", for: routes = {}, ...given } = policy as Partial<RateLimitPolicy>;
  const at = `policy "${String(name ?? index)}"`;
  const problems = unknownNames(policy, KNOWN_OF_POLICY, `${at}: `);
  if (typeof name !== "string" || !NAME.test(name))
    problems.push(`${at}: \`name\` must be lower-case letters, digits and hyphens, 32 at most`);
  for (const which of ["limit", "window"] as const)
    if (!isWhole(given[which], LONGEST[which]))
      problems.push(`${at}: \`${which}\` must be a whole number from 1 to ${LONGEST[which]}`);
  if (by !== "address" && by !== "caller" && typeof by !== "function")
    problems.push(`${at}: \`by\` must be "address", "caller" or a function`);
  if (!["policy", "entity", "route"].includes(each))
    problems.push(`${at}: \`each\` must be "policy", "entity" or "route"`);
  return [...problems, ...routeProblems(routes, at)];
}

function routeProblems(routes: unknown, at: string): string[] {
  if (typeof routes !== "object" || routes === null)
    return [`${at}: \`for\` must be an object such as { action: "login" }`];
  const problems = unknownNames(routes, KNOWN_OF_ROUTES, `${at}: \`for\`: `);
  for (const [name, value] of Object.entries(routes)) {
    const list: unknown = typeof value === "string" ? [value] : (value ?? ["any"]);
    if (!Array.isArray(list) || list.length === 0 || list.some((word) => typeof word !== "string"))
      problems.push(`${at}: \`for.${name}\` must be a name, or a list of names`);
  }
  return problems;
}

function unknownNames(given: object, known: object, at: string): string[] {
  return unknownKeys(given, Object.keys(known)).map((problem) => at + problem);
}

function isWhole(value: unknown, most: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most;
}
