import type { JWTVerifyGetKey } from "jose";
import { UnavailableError } from "../../kernel/index.ts";
import { fetchKeySet } from "./fetch-key-set.ts";
import type { JwtAuthOptions } from "./jwt-auth-options.ts";

/** Milliseconds after a fetch that failed in which the issuer is left alone; what `Retry-After` says. */
const PAUSE_MS = 2_000;

/**
 * Keys of an issuer that are fetched when a token needs one that is not known: at most once per cooldown, so that made-up
 * key ids do not become load for the issuer, and not at all for a moment after a fetch has failed. Only a fetch can fail
 * in that way: what is wrong with one of the keys is a matter of the tokens that name it.
 * @throws UnavailableError (503) when the keys cannot be had: nobody knows then whether the token is good
 */
export function remoteKeys(
  jose: typeof import("jose"),
  address: string | URL,
  { jwksTimeoutMs = 3_000, jwksCooldownMs = 30_000, jwksMaxAgeMs = 600_000 }: JwtAuthOptions,
): JWTVerifyGetKey {
  let pausedUntil = 0;
  return jose.createRemoteJWKSet(new URL(address), {
    timeoutDuration: jwksTimeoutMs,
    cooldownDuration: jwksCooldownMs,
    cacheMaxAge: jwksMaxAgeMs,
    [jose.customFetch]: async (url, init) => {
      if (Date.now() < pausedUntil) throw unavailable();
      try {
        return await fetchKeySet(url, init);
      } catch (error) {
        pausedUntil = Date.now() + PAUSE_MS;
        throw unavailable(error);
      }
    },
  });
}

function unavailable(cause?: unknown): UnavailableError {
  return new UnavailableError("The keys that tokens are checked with cannot be fetched at the moment", { cause });
}
