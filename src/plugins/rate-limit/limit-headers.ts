import type { KernelResponse } from "../../kernel/index.ts";
import type { RateLimitPolicy } from "./rate-limit-options.ts";
import type { RateCount } from "./stores/rate-limit-store.ts";

/** How far a request has brought a quota. */
export interface Usage {
  readonly policy: RateLimitPolicy;
  readonly counted: RateCount;
}

/**
 * Adds what is left of each quota to an answer: structured fields (RFC 9651) as draft-ietf-httpapi-ratelimit-headers-10
 * has them, `RateLimit-Policy: "login";q=5;w=300` and `RateLimit: "login";r=4;t=280`.
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
