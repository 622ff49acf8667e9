/** Bytes a secret needs at least, by algorithm: as many as its hash has (RFC 7518 section 3.2). */
export const SECRET_BYTES = Object.freeze({ HS256: 32, HS384: 48, HS512: 64 });

/** Algorithms of key pairs (RFC 7518 section 3.1, RFC 8037, RFC 9864). */
export const KEY_PAIR_ALGORITHMS = Object.freeze([
  ...(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const),
  ...(["ES256", "ES384", "ES512", "EdDSA", "Ed25519"] as const),
]);

export type SecretAlgorithm = keyof typeof SECRET_BYTES;
export type KeyPairAlgorithm = (typeof KEY_PAIR_ALGORITHMS)[number];

/** What a token may be signed with. "none" is not among them (RFC 8725 section 3.2). */
export type JwtAlgorithm = SecretAlgorithm | KeyPairAlgorithm;

export const SECRET_ALGORITHMS = Object.freeze(Object.keys(SECRET_BYTES) as SecretAlgorithm[]);
const BY_SECRET: readonly JwtAlgorithm[] = Object.freeze(["HS256"]);
const BY_KEYS: readonly JwtAlgorithm[] = Object.freeze(["RS256", "ES256"]);

/**
 * The algorithms of an app. One list never has both kinds: if a public key were taken for a shared secret, anyone could
 * sign (RFC 8725 section 2.1).
 */
export function algorithmsOf(options: {
  readonly jwks?: unknown;
  readonly algorithms?: readonly JwtAlgorithm[] | undefined;
}): readonly JwtAlgorithm[] {
  return options.algorithms ?? (options.jwks === undefined ? BY_SECRET : BY_KEYS);
}
