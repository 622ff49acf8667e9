import { createPublicKey, createSecretKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { type User, unknownKeys } from "../../kernel/index.ts";

/** The claims of a verified token (RFC 7519 section 4). Times are seconds since 1970. */
export interface TokenClaims {
  /** The id of the token's user. */
  readonly sub: string;
  readonly iss: string;
  readonly aud: string | readonly string[];
  readonly exp: number;
  readonly iat?: number;
  readonly nbf?: number;
  readonly [claim: string]: unknown;
}

/** An issuer's public keys (RFC 7517 section 5). */
export interface JsonWebKeySet {
  readonly keys: readonly object[];
}

/** Options of `jwtAuth`. Exactly one of `secret` and `jwks` is needed. */
export interface JwtAuthOptions {
  /**
   * Secret shared with the signer: at least as many bytes as the hash of the algorithm, 32 for HS256
   * (RFC 7518 section 3.2). Text counts as UTF-8. Make one with `openssl rand -base64 48`.
   */
  readonly secret?: string | Uint8Array | undefined;
  /**
   * The issuer's public keys: their address (https, or http on this machine; at most 256 KiB), or the keys themselves.
   */
  readonly jwks?: string | URL | JsonWebKeySet | undefined;
  /** The only accepted `iss`, compared exactly (RFC 8725 section 3.8). */
  readonly issuer: string;
  /** This API's name in `aud`. For a list, one of the names must be in the token (RFC 8725 section 3.9). */
  readonly audience: string | readonly string[];
  /**
   * Accepted signature algorithms. The token's own `alg` must be one of them (RFC 8725 section 3.1).
   * @default ["HS256"] with a secret, ["RS256", "ES256"] with keys
   */
  readonly algorithms?: readonly JwtAlgorithm[] | undefined;
  /**
   * The `typ` that tokens must have in their header, such as "at+jwt" (RFC 9068), for issuers that sign several types
   * of tokens (RFC 8725 section 3.11).
   * @default any
   */
  readonly typ?: string | undefined;
  /** Seconds by which the clocks of the issuer and the API may differ, 0 to 300. @default 5 */
  readonly clockTolerance?: number | undefined;
  /** Seconds after `iat` for which a token is accepted, even if `exp` is later. @default until `exp` */
  readonly maxTokenAge?: number | undefined;
  /**
   * Returns the user of a token; null if the user no longer exists, which is 401. An error is 503, unless it is a
   * Keelson error.
   * @default `{ id: sub }`, with `role` if it is text and `roles` if it is a list of texts
   */
  readonly user?: ((claims: TokenClaims) => User | null | undefined | Promise<User | null | undefined>) | undefined;
  /** Time limit for fetching the keys in milliseconds. @default 3000 */
  readonly jwksTimeoutMs?: number | undefined;
  /** Milliseconds after a fetch in which unknown keys do not cause another fetch. @default 30000 */
  readonly jwksCooldownMs?: number | undefined;
  /**
   * Milliseconds for which fetched keys are cached. A key that the issuer withdraws is accepted that long. @default
   * 600000
   */
  readonly jwksMaxAgeMs?: number | undefined;
}

/** The least bytes of a secret by algorithm: the size of its hash (RFC 7518 section 3.2). */
export const SECRET_BYTES = Object.freeze({ HS256: 32, HS384: 48, HS512: 64 });

/** Algorithms of key pairs (RFC 7518 section 3.1, RFC 8037, RFC 9864). */
export const KEY_PAIR_ALGORITHMS = Object.freeze([
  ...(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const),
  ...(["ES256", "ES384", "ES512", "EdDSA", "Ed25519"] as const),
]);

export type SecretAlgorithm = keyof typeof SECRET_BYTES;
type KeyPairAlgorithm = (typeof KEY_PAIR_ALGORITHMS)[number];

/** A signature algorithm. "none" is excluded (RFC 8725 section 3.2). */
type JwtAlgorithm = SecretAlgorithm | KeyPairAlgorithm;

export const SECRET_ALGORITHMS = Object.freeze(Object.keys(SECRET_BYTES) as SecretAlgorithm[]);
const BY_SECRET: readonly JwtAlgorithm[] = Object.freeze(["HS256"]);
const BY_KEYS: readonly JwtAlgorithm[] = Object.freeze(["RS256", "ES256"]);

/**
 * The algorithms of an app. A list never has both kinds: if a public key were used as a shared secret, anyone could
 * sign tokens (RFC 8725 section 2.1).
 */
export function algorithmsOf(options: {
  readonly jwks?: unknown;
  readonly algorithms?: readonly JwtAlgorithm[] | undefined;
}): readonly JwtAlgorithm[] {
  return options.algorithms ?? (options.jwks === undefined ? BY_SECRET : BY_KEYS);
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** The problems of an address of keys, or of the keys themselves. */
function jwksProblems(jwks: unknown): string[] {
  if (typeof jwks === "string" || jwks instanceof URL) return addressProblems(jwks);
  const keys = typeof jwks === "object" && jwks !== null ? (jwks as { keys?: unknown }).keys : undefined;
  if (!Array.isArray(keys) || keys.length === 0)
    return ["`jwks` is the address of a key set, or a key set: { keys: [...] } with at least one key"];
  return keys.flatMap((key: unknown, index) => {
    const reason = keyProblem(key);
    return reason === undefined ? [] : [`\`jwks.keys[${index}]\` ${reason}`];
  });
}

function addressProblems(address: string | URL): string[] {
  const url = URL.canParse(String(address)) ? new URL(address) : undefined;
  if (url === undefined) return ["`jwks` must be an address such as https://issuer.example/.well-known/jwks.json"];
  // An attacker who can change the keys in transit can sign any token.
  if (url.protocol !== "https:" && !(url.protocol === "http:" && LOOPBACK.includes(url.hostname)))
    return ["`jwks` must be an https address; http is for this machine only"];
  return url.username === "" && url.password === "" ? [] : ["`jwks` must be an address without user name and password"];
}

function keyProblem(jwk: unknown): string | undefined {
  if (typeof jwk !== "object" || jwk === null) return "is not a key";
  if ("d" in jwk) return "is a private key; only its public part belongs here";
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk as JsonWebKey, format: "jwk" });
  } catch {
    return "is not a public key (RSA, EC or OKP)";
  }
  const { modulusLength = 2_048 } = key.asymmetricKeyDetails ?? {};
  return modulusLength < 2_048 ? `has ${modulusLength} bits and needs 2048 (RFC 7518 section 3.3)` : undefined;
}

/** Options that are numbers, with their least and greatest values. */
const RANGES = {
  clockTolerance: [0, 300],
  maxTokenAge: [1, Number.MAX_SAFE_INTEGER],
  jwksTimeoutMs: [1, 60_000],
  jwksCooldownMs: [0, 86_400_000],
  jwksMaxAgeMs: [0, 86_400_000],
} as const;
const KNOWN: Readonly<Record<keyof JwtAuthOptions, unknown>> = {
  secret: true,
  jwks: true,
  issuer: true,
  audience: true,
  algorithms: true,
  typ: true,
  user: true,
  ...RANGES,
};

/** The problems of the options. A misspelt option is a problem, because it would protect nothing. */
export function checkOptions(options: JwtAuthOptions): string[] {
  const { secret, jwks, typ, user } = options;
  const algorithms: unknown = algorithmsOf(options);
  const list = Array.isArray(algorithms) ? algorithms : [];
  const problems = [...claimProblems(options), ...algorithmProblems(list, jwks === undefined)];
  if (secret !== undefined && jwks !== undefined) problems.push("`secret` and `jwks` exclude each other; keep one");
  else if (jwks !== undefined) problems.push(...jwksProblems(jwks));
  else if (secret !== undefined) problems.push(...secretProblems(secret, list));
  else problems.push("`secret` or `jwks` is missing; a secret is made with: openssl rand -base64 48");
  if (typ !== undefined && (typeof typ !== "string" || typ === "")) problems.push("`typ` must be text such as at+jwt");
  if (user !== undefined && typeof user !== "function") problems.push("`user` must be a function of the claims");
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const value = options[name as keyof typeof RANGES];
    if (value !== undefined && !(Number.isInteger(value) && value >= least && value <= most))
      problems.push(`\`${name}\` must be a whole number from ${least} to ${most}`);
  }
  return [...problems, ...unknownKeys(options, Object.keys(KNOWN))];
}

function algorithmProblems(algorithms: readonly unknown[], bySecret: boolean): string[] {
  const known: readonly unknown[] = bySecret ? SECRET_ALGORITHMS : KEY_PAIR_ALGORITHMS;
  const choice = `with ${bySecret ? "a secret" : "keys"} there are ${known.join(", ")}`;
  if (algorithms.length === 0) return [`\`algorithms\` must be a list of one or more; ${choice}`];
  return algorithms
    .filter((name) => !known.includes(name))
    .map((name) => `\`algorithms\`: "${String(name)}" cannot be used here; ${choice}`);
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

/** The problems of `issuer` and `audience`, which are both required (RFC 8725 sections 3.8 and 3.9). */
export function claimProblems({ issuer, audience }: { issuer?: unknown; audience?: unknown }): string[] {
  const isAudience = Array.isArray(audience) ? audience.length > 0 && audience.every(isText) : isText(audience);
  return [
    ...(isText(issuer) ? [] : ["`issuer` is missing; it is the `iss` of the tokens"]),
    ...(isAudience ? [] : ["`audience` is missing; it is the name of this API in the `aud` of the tokens"]),
  ];
}

/** The problems of a shared secret for these algorithms, without its content. */
export function secretProblems(secret: unknown, algorithms: readonly unknown[]): string[] {
  if (typeof secret !== "string" && !(secret instanceof Uint8Array))
    return ["`secret` is missing; it is text or bytes, made with: openssl rand -base64 48"];
  const bytes = Buffer.byteLength(secret);
  const longest = Math.max(32, ...algorithms.map((name) => SECRET_BYTES[name as keyof typeof SECRET_BYTES] ?? 0));
  return bytes >= longest ? [] : [`\`secret\` has ${bytes} bytes and needs ${longest} for ${algorithms.join(", ")}`];
}

/** A secret as a key object, which shows no content when it is printed. Later changes of the bytes do not affect it. */
export function secretKey(secret: string | Uint8Array): KeyObject {
  return createSecretKey(Buffer.from(secret));
}
