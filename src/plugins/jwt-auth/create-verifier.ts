import type { JSONWebKeySet, JWTVerifyGetKey, JWTVerifyOptions } from "jose";
import { isKeelsonError } from "../../entity/index.ts";
import type { Logger } from "../../kernel/index.ts";
import { algorithmsOf } from "./algorithms.ts";
import type { JwtAuthOptions, TokenClaims } from "./jwt-auth-options.ts";
import { remoteKeys } from "./remote-keys.ts";
import { secretKey } from "./secret-key.ts";

type Jose = typeof import("jose");

/** The claims of a token; undefined when it is not valid. Why not goes to the log, without anything that was in it. */
export type Verifier = (token: string, log: Logger) => Promise<TokenClaims | undefined>;

/**
 * Checks signature and claims (RFC 8725 section 3): algorithms of the list only, `iss` and `aud` as configured, `exp` and
 * `sub` present, `nbf` past.
 * @param options have been checked
 */
export function createVerifier(options: JwtAuthOptions): Verifier {
  const { issuer, audience, clockTolerance = 5, maxTokenAge, typ } = options;
  // Imported here: apps that check no tokens need not wait for it, and others load it beside the rest.
  const loaded = import("jose").then((jose) => ({ jose, key: keyOf(jose, options) }));
  loaded.catch(() => undefined); // whoever checks a token hears of it
  const expected: JWTVerifyOptions = {
    algorithms: [...algorithmsOf(options)],
    issuer,
    audience: typeof audience === "string" ? audience : [...audience],
    requiredClaims: ["exp", "sub"],
    clockTolerance,
    ...(maxTokenAge === undefined ? {} : { maxTokenAge }),
    ...(typ === undefined ? {} : { typ }),
  };
  return async (token, log) => {
    const { jose, key } = await loaded;
    try {
      const { payload } = await jose.jwtVerify(token, key, expected);
      return payload as TokenClaims;
    } catch (error) {
      if (isKeelsonError(error)) throw error; // there are no keys to check it with
      log.debug("Token refused", reasonOf(jose, error));
      return undefined;
    }
  };
}

/** What is no error of jose's own is the key's: of the set that a token chooses from, one may be broken or too short. */
function reasonOf({ errors }: Jose, error: unknown): Readonly<Record<string, unknown>> {
  if (error instanceof errors.JOSEError) return { reason: error.code, claim: (error as { claim?: string }).claim };
  return { reason: "its key cannot be used", error: (error as Error).name };
}

function keyOf(jose: Jose, options: JwtAuthOptions): JWTVerifyGetKey {
  const { secret, jwks } = options;
  if (typeof jwks === "string" || jwks instanceof URL) return remoteKeys(jose, jwks, options);
  if (jwks !== undefined) return jose.createLocalJWKSet(jwks as JSONWebKeySet);
  const key = secretKey(secret as string | Uint8Array);
  return () => key;
}
