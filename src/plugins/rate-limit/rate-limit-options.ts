import type { Route } from "../../gate/index.ts";
import { type Principal, unknownKeys } from "../../kernel/index.ts";
import { proxyProblems } from "./client-address.ts";
import type { RateLimitStore } from "./rate-limit-store.ts";

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
/** A key of a structured field that needs no quoting anywhere. */
const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const LONGEST = { limit: 1_000_000_000, window: 86_400 };

/** What is wrong with the options. One that is misspelt would limit nothing, so it is wrong, too. */
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
  if (typeof policy !== "object" || policy === null) return [`\`policies[${index}]\` is no policy`];
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
