import type { User } from "../../kernel/index.ts";
import type { JwtAlgorithm } from "./algorithms.ts";

/** What a verified token says (RFC 7519 section 4). Times are seconds since 1970. */
export interface TokenClaims {
  /** Whose token it is. */
  readonly sub: string;
  readonly iss: string;
  readonly aud: string | readonly string[];
  readonly exp: number;
  readonly iat?: number;
  readonly nbf?: number;
  readonly [claim: string]: unknown;
}

/** Public keys as an issuer publishes them (RFC 7517 section 5). */
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
  /** The issuer's public keys: their address (https, or http on this machine; 256 KiB at most), or the keys themselves. */
  readonly jwks?: string | URL | JsonWebKeySet | undefined;
  /** The only `iss` that is accepted, letter for letter (RFC 8725 section 3.8). */
  readonly issuer: string;
  /** This API's name in `aud`; of a list, one must be among the token's (RFC 8725 section 3.9). */
  readonly audience: string | readonly string[];
  /**
   * What tokens may be signed with; the token's own word for it counts for nothing else (RFC 8725 section 3.1).
   * @default ["HS256"] with a secret, ["RS256", "ES256"] with keys
   */
  readonly algorithms?: readonly JwtAlgorithm[] | undefined;
  /**
   * The `typ` a token must have in its header, such as "at+jwt" (RFC 9068), for issuers that sign tokens of several
   * kinds (RFC 8725 section 3.11).
   * @default any
   */
  readonly typ?: string | undefined;
  /** Seconds by which the clocks of issuer and API may differ, 0 to 300. @default 5 */
  readonly clockTolerance?: number | undefined;
  /** Seconds after `iat` for which a token is accepted, even if `exp` is later. @default until `exp` */
  readonly maxTokenAge?: number | undefined;
  /**
   * The user a token stands for; null when that user no longer exists, which is 401. An error is 503, unless it is a
   * Keelson error.
   * @default `{ id: sub }`, with `role` when that is text and `roles` when that is a list of texts
   */
  readonly user?: ((claims: TokenClaims) => User | null | undefined | Promise<User | null | undefined>) | undefined;
  /** Milliseconds the address has to answer with the keys. @default 3000 */
  readonly jwksTimeoutMs?: number | undefined;
  /** Milliseconds after a fetch in which a key that is not among them is not looked for again. @default 30000 */
  readonly jwksCooldownMs?: number | undefined;
  /** Milliseconds fetched keys are trusted for: a key the issuer withdraws is accepted that long. @default 600000 */
  readonly jwksMaxAgeMs?: number | undefined;
}
