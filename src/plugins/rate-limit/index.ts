// rate-limit: how many requests a caller may make, to what, in which time. Limits by address apply before the caller is
// recognised and the body is read; limits by user apply afterwards. Refused requests are 429 with Retry-After
// (RFC 6585 section 4).
import {
  createPlugin,
  type Plugin,
  type PluginContext,
  type Route,
  type RouteNotes,
  schemaFromEntities,
} from "../../gate/index.ts";
import type { KernelRequest } from "../../kernel/index.ts";
import { clientAddress, trustedProxies } from "./client-address.ts";
import { addLimitHeaders, countRequest, type Usage } from "./count-request.ts";
import { type CountRequest, createCounter } from "./dependable-store.ts";
import { noteOf, policiesOfRoutes, type RoutePolicies } from "./policies-of-routes.ts";
import { checkOptions, type RateLimitOptions, type RateLimitPolicy } from "./rate-limit-options.ts";
import { memoryRateStore } from "./rate-limit-store.ts";

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

/** What is known of a request that is being counted. */
interface Counting {
  readonly network: string | undefined;
  readonly usages: Usage[];
}

/**
 * Limits how many requests are let through. Work inside the process and health probes are not limited. Options that
 * make no sense are a ConfigurationError when the app starts.
 * @param options policies, where requests are counted, and which proxies are believed
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

  const { policies = DEFAULT_POLICIES, store = memoryRateStore(), onStoreFailure = "memory" } = options;
  const { storeTimeoutMs = 500 } = options;
  const trusts = trustedProxies(options.trustedProxies);
  const counting = new WeakMap<KernelRequest, Counting>();
  let count: CountRequest;
  // Empty until the app has started: what is answered before that is probes alone.
  let byRoute: ReadonlyMap<Route, RoutePolicies> = new Map();
  let isToldOfUnknown = false;

  function begin(request: KernelRequest, log: PluginContext["log"]): Counting {
    const network = clientAddress(request, trusts)?.network;
    if (network === undefined && !isToldOfUnknown) {
      isToldOfUnknown = true;
      log.warn("Where requests come from is unknown, so all that nobody is logged in for share their limits");
    }
    const begun = { network, usages: [] };
    counting.set(request, begun);
    return begun;
  }

  return createPlugin({
    ...PLUGIN,
    ...(store.entities === undefined ? {} : { schema: schemaFromEntities(store.entities, { internal: true }) }),
    setup({ hooks, log }) {
      hooks.on("request:start", ({ request, route }) => {
        const found = byRoute.get(route);
        if (found === undefined) return;
        const { network, usages } = begin(request, log);
        return countRequest(count, found.byAddress, { route, network, principal: undefined }, usages);
      });
      hooks.on("route:around", ({ request, route, scope: { principal } }) => {
        const found = byRoute.get(route);
        const begun = counting.get(request);
        if (found === undefined || begun === undefined) return;
        return countRequest(count, found.byCaller, { route, network: begun.network, principal }, begun.usages);
      });
      hooks.on("request:end", ({ request, response }) => {
        const usages = counting.get(request)?.usages ?? [];
        if (usages.length > 0) addLimitHeaders(response, usages);
      });
    },
    async start({ routes, services, driver, log }) {
      byRoute = policiesOfRoutes(policies, routes.list());
      count = createCounter(store, { onFailure: onStoreFailure, timeoutMs: storeTimeoutMs, log });
      await store.open?.({ driver, log });
      if (services.has("openapi.routes")) services.resolve<RouteNotes>("openapi.routes").add(noteOf(policies));
    },
    stop: () => store.close?.(),
  });
}
