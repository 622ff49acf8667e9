import { createHash } from "node:crypto";
import type { Route } from "../../gate/index.ts";
import { isPromiseLike, type KernelResponse, type Principal, RateLimitedError } from "../../kernel/index.ts";
import type { CountRequest } from "./dependable-store.ts";
import type { KeyedPolicy } from "./policies-of-routes.ts";
import type { RateLimitPolicy } from "./rate-limit-options.ts";
import type { RateCount } from "./rate-limit-store.ts";

const LONGEST_KEY = 128;

/** The caller whose request is counted; the principal is undefined until the caller is known. */
export interface Caller {
  readonly route: Route;
  readonly principal: Principal | undefined;
  readonly network: string | undefined;
}

/**
 * Counts a request for policies, in their order, until one refuses it. Synchronous when the store is.
 * @param usages receives the count of each policy
 * @throws RateLimitedError (429), or UnavailableError (503) when the store fails and `onStoreFailure` is "refuse"
 */
export function countRequest(
  count: CountRequest,
  policies: readonly KeyedPolicy[],
  caller: Caller,
  usages: Usage[],
  from = 0,
): void | Promise<void> {
  for (let index = from; index < policies.length; index++) {
    const { policy, quota } = policies[index] as KeyedPolicy;
    const whose = keyOf(policy.by, caller);
    if (whose === undefined) continue;
    const note = (counted: Usage["counted"]): void => {
      usages.push({ policy, counted });
      if (counted.count > policy.limit) throw new RateLimitedError(counted.resetMs / 1_000);
    };
    const counted = count(`${quota}:${whose}`, policy);
    if (isPromiseLike(counted))
      return counted.then((value) => {
        note(value);
        return countRequest(count, policies, caller, usages, index + 1);
      });
    note(counted);
  }
}

/** Shortens long keys, because keys are stored and a custom key may contain request data of any length. */
function shortened(text: string): string {
  return text.length <= LONGEST_KEY ? text : createHash("sha256").update(text).digest("base64url");
}

/** The key of a caller. Prefixes separate users from addresses, because a user's id may look like an address. */
function keyOf(by: KeyedPolicy["policy"]["by"], { route, principal, network }: Caller): string | undefined {
  if (typeof by === "function" && principal !== undefined) {
    const text: unknown = by({ route, principal, network });
    return text === undefined ? undefined : `k:${shortened(String(text))}`;
  }
  // Requests of unknown origin share a quota: without one, they would have no limit.
  return by !== "address" && principal?.kind === "user" ? `u:${principal.user.id}` : `a:${network ?? "unknown"}`;
}

/** The usage of a quota after a request. */
export interface Usage {
  readonly policy: RateLimitPolicy;
  readonly counted: RateCount;
}

/**
 * Adds the rest of each quota to a response, as structured fields (RFC 9651) of
 * draft-ietf-httpapi-ratelimit-headers-10: `RateLimit-Policy: "login";q=5;w=300` and `RateLimit: "login";r=4;t=280`.
 */
export function addLimitHeaders({ headers }: Pick<KernelResponse, "headers">, usages: readonly Usage[]): void {
  headers["ratelimit-policy"] = usages
    .map(({ policy: { name, limit, window } }) => `"${name}";q=${limit};w=${window}`)
    .join(", ");
  headers.ratelimit = usages
    .map(({ policy: { name, limit }, counted: { count, resetMs } }) => {
      return `"${name}";r=${Math.max(0, limit - count)};t=${Math.ceil(resetMs / 1_000)}`;
    })
    .join(", ");
}
