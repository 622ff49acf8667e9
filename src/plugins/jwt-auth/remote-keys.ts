import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from "jose";
import { isKeelsonError } from "../../entity/index.ts";
import { UnavailableError } from "../../kernel/index.ts";
import type { JwtAuthOptions } from "./jwt-auth-options.ts";

/** Milliseconds after a fetch that failed in which the issuer is left alone; what `Retry-After` says. */
const PAUSE_MS = 2_000;

/**
 * Keys of an issuer that are fetched when a token needs one that is not known: at most once per cooldown, so that made-up
 * key ids do not become load for the issuer, and not at all for a moment after a fetch has failed.
 * @throws UnavailableError (503) when the keys cannot be had: nobody knows then whether the token is good
 */
export function remoteKeys(
  address: string | URL,
  { jwksTimeoutMs = 3_000, jwksCooldownMs = 30_000, jwksMaxAgeMs = 600_000 }: JwtAuthOptions,
): JWTVerifyGetKey {
  let pausedUntil = 0;
  const find = createRemoteJWKSet(new URL(address), {
    timeoutDuration: jwksTimeoutMs,
    cooldownDuration: jwksCooldownMs,
    cacheMaxAge: jwksMaxAgeMs,
    [customFetch]: async (url, init) => {
      if (Date.now() < pausedUntil) throw unavailable();
      return fetch(url, init);
    },
  });
  return async (header, token) => {
    try {
      return await find(header, token);
    } catch (error) {
      if (isKeelsonError(error) || isFaultOfToken(error)) throw error;
      pausedUntil = Date.now() + PAUSE_MS;
      throw unavailable(error);
    }
  };
}

/** The set was there, and the token asks for a key that is not in it, or not for one key. */
function isFaultOfToken(error: unknown): boolean {
  const { JOSENotSupported, JWKSMultipleMatchingKeys, JWKSNoMatchingKey } = errors;
  return [JOSENotSupported, JWKSMultipleMatchingKeys, JWKSNoMatchingKey].some((fault) => error instanceof fault);
}

function unavailable(cause?: unknown): UnavailableError {
  return new UnavailableError("The keys that tokens are checked with cannot be fetched at the moment", { cause });
}
