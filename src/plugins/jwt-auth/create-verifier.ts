import type { JSONWebKeySet, JWTVerifyGetKey, JWTVerifyOptions } from "jose";
import { isKeelsonError, isObject } from "../../entity/index.ts";
import { type Logger, PluginError, UnavailableError } from "../../kernel/index.ts";
import { algorithmsOf, type JwtAuthOptions, secretKey, type TokenClaims } from "./jwt-auth-options.ts";

/** The largest key set in bytes: ten times the size that large issuers use. */
const MAX_BYTES = 262_144;

/**
 * Fetches a key set (RFC 7517 section 5). Its keys are checked when a token needs them.
 * @throws PluginError when the response is not a key set, or is longer than 256 KiB, of which no more is read
 * @throws any error that `fetch` throws
 */
async function fetchKeySet(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new PluginError(`The address of the keys answered with ${response.status}`);
  }
  const text = await readText(response);
  if (!isKeySet(text)) throw new PluginError("The address of the keys answered with something else");
  return new Response(text);
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Counts the bytes held in memory: an announced length may be wrong, or may be the length of compressed bytes.
  for await (const chunk of (body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new PluginError(`The address of the keys answered with more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function isKeySet(text: string): boolean {
  let set: unknown;
  try {
    set = JSON.parse(text);
  } catch {
    return false;
  }
  const keys = isObject(set) ? set.keys : undefined;
  return Array.isArray(keys) && keys.every(isObject);
}

/** Milliseconds after a failed fetch in which the issuer is not called again, as in `Retry-After`. */
const PAUSE_MS = 2_000;

/**
 * The keys of an issuer. They are fetched when a token needs an unknown key: at most once per cooldown, so that made-up
 * key ids cause no load on the issuer, and not for a short time after a failed fetch. A problem with a single key only
 * affects tokens that name it.
 * @throws UnavailableError (503) when the keys cannot be fetched, so the token cannot be checked
 */
function remoteKeys(
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

type Jose = typeof import("jose");

/**
 * Verifies a token. Returns its claims; undefined when it is not valid. The reason is logged, without content of the
 * token.
 */
export type Verifier = (token: string, log: Logger) => Promise<TokenClaims | undefined>;

/**
 * Checks signature and claims (RFC 8725 section 3): algorithms of the list only, `iss` and `aud` as configured, `exp` and
 * `sub` present, `nbf` past.
 * @param options have been checked
 */
export function createVerifier(options: JwtAuthOptions): Verifier {
  const { issuer, audience, clockTolerance = 5, maxTokenAge, typ } = options;
  // Loaded here: apps that check no tokens need not load it, and others load it in parallel with the rest.
  const loaded = import("jose").then((jose) => ({ jose, key: keyOf(jose, options) }));
  loaded.catch(() => undefined); // checking a token reports the error
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
      if (isKeelsonError(error)) throw error; // the keys could not be fetched
      log.debug("Token refused", reasonOf(jose, error));
      return undefined;
    }
  };
}

/** The reason for the log. Errors that are not jose's are about a key: a key of the set may be broken or too short. */
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
