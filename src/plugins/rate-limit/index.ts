// rate-limit: limits the number of requests per caller, route and time. Limits by address apply before the caller is
// recognised and the body is read; limits by user apply afterwards. Refused requests get 429 with Retry-After (RFC 6585
// section 4).
import {
  createPlugin,
  type Plugin,
  type PluginContext,
  type Route,
  RouteNotes,
  schemaFromEntities,
} from "../../gate/index.ts";
import type { KernelRequest } from "../../kernel/index.ts";
import { clientAddress, trustedProxies } from "./client-address.ts";
import { addLimitHeaders, countRequest, type Usage } from "./count-request.ts";
import { type CountRequest, createCounter } from "./dependable-store.ts";
import { noteOf, policiesOfRoutes, type RoutePolicies } from "./policies-of-routes.ts";
import { checkOptions, type RateLimitOptions, type RateLimitPolicy } from "./rate-limit-options.ts";
import { memoryRateStore, type RateLimitStore } from "./rate-limit-store.ts";

export { databaseRateStore } from "./database-rate-store.ts";
export type { RateLimitOptions, RateLimitPolicy } from "./rate-limit-options.ts";
export type { Rate, RateCount, RateLimitStore } from "./rate-limit-store.ts";
export { memoryRateStore } from "./rate-limit-store.ts";
export { redisRateStore } from "./redis-rate-store.ts";

// Hooks: request:start (policies by address), route:around (all others), request:end (headers).

const PLUGIN = { id: "rate-limit", version: "1.0.0" };

const DEFAULT_POLICIES: readonly RateLimitPolicy[] = Object.freeze([
  Object.freeze({ name: "address", limit: 1_000, window: 60, by: "address" as const }),
  Object.freeze({ name: "caller", limit: 300, window: 60, by: "caller" as const }),
]);

/** The state of a request that is being counted. */
interface Counting {
  readonly network: string | undefined;
  readonly usages: Usage[];
}

interface LimitState {
  readonly store: RateLimitStore;
  readonly counting: WeakMap<KernelRequest, Counting>;
  count: CountRequest | undefined;
  /** Empty until the app has started. Until then, it only serves probes. */
  byRoute: ReadonlyMap<Route, RoutePolicies>;
  /** Whether the warning about unknown addresses was logged. */
  hasWarned: boolean;
}

/**
 * Limits the number of requests. Calls inside the process and health probes are not limited. Invalid options are a
 * ConfigurationError when the app starts.
 * @param options the policies, where requests are counted, and which proxies are trusted
 * @example
 * rateLimit({ policies: [{ name: "login", limit: 5, window: 300, by: "address", for: { action: "login" } }] })
 */
export function rateLimit(options: RateLimitOptions = {}): Plugin {
  const problems = checkOptions(options);
  if (problems.length > 0)
    return createPlugin({
      ...PLUGIN,
      setup({ problem }) {
        for (const sentence of problems) problem(`rate-limit: ${sentence}`);
      },
    });

  const { policies = DEFAULT_POLICIES, onStoreFailure = "memory" } = options;
  const { storeTimeoutMs = 500 } = options;
  const trusts = trustedProxies(options.trustedProxies);

  function begin(request: KernelRequest, state: LimitState, log: PluginContext["log"]): Counting {
    const network = clientAddress(request, trusts)?.network;
    if (network === undefined && !state.hasWarned) {
      state.hasWarned = true;
      log.warn("The address of requests is unknown, so all anonymous callers share their limits");
    }
    const begun = { network, usages: [] };
    state.counting.set(request, begun);
    return begun;
  }

  return createPlugin({
    ...PLUGIN,
    schema: schemaFromEntities(options.store?.entities ?? [], { internal: true }),
    setup({ hooks, log }) {
      const state: LimitState = {
        store: options.store ?? memoryRateStore(),
        counting: new WeakMap(),
        count: undefined,
        byRoute: new Map(),
        hasWarned: false,
      };
      hooks.on("request:start", ({ request, route }) => {
        const found = state.byRoute.get(route);
        if (found === undefined || state.count === undefined) return;
        const { network, usages } = begin(request, state, log);
        return countRequest(state.count, found.byAddress, { route, network, principal: undefined }, usages);
      });
      hooks.on("route:around", ({ request, route, scope: { principal } }) => {
        const found = state.byRoute.get(route);
        const begun = state.counting.get(request);
        if (found === undefined || begun === undefined || state.count === undefined) return;
        return countRequest(state.count, found.byCaller, { route, network: begun.network, principal }, begun.usages);
      });
      hooks.on("request:end", ({ request, response }) => {
        const usages = state.counting.get(request)?.usages ?? [];
        if (usages.length > 0) addLimitHeaders(response, usages);
      });
      return state;
    },
    async start({ routes, tryUse, driver, log }, state) {
      state.byRoute = policiesOfRoutes(policies, routes.list());
      state.count = createCounter(state.store, { onFailure: onStoreFailure, timeoutMs: storeTimeoutMs, log });
      await state.store.open?.({ driver, log });
      tryUse(RouteNotes)?.add(noteOf(policies));
    },
    stop: (_context, { store }) => store.close?.(),
  });
}
