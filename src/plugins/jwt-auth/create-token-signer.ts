import { ConfigurationError } from "../../entity/index.ts";
import { PluginError } from "../../kernel/index.ts";
import { MAX_TOKEN_BYTES } from "./bearer-token.ts";
import {
  claimProblems,
  SECRET_ALGORITHMS,
  type SecretAlgorithm,
  secretKey,
  secretProblems,
} from "./jwt-auth-options.ts";

/** Options of `createTokenSigner`, with the same names and meanings as in `jwtAuth`. */
export interface TokenSignerOptions {
  /** At least as many bytes as the hash of the algorithm, 32 for HS256 (RFC 7518 section 3.2). */
  readonly secret: string | Uint8Array | undefined;
  readonly issuer: string;
  readonly audience: string | readonly string[];
  /** Seconds for which a token is valid. It cannot be revoked earlier, so keep it short. @default 900 */
  readonly expiresIn?: number | undefined;
  /** @default "HS256" */
  readonly algorithm?: SecretAlgorithm | undefined;
  /** The type of the token, for its header. @default "JWT" */
  readonly typ?: string | undefined;
}

/** Signs a token with `claims`. The signer sets `iss`, `aud`, `iat` and `exp`. */
export type TokenSigner = (claims: { readonly sub: string; readonly [claim: string]: unknown }) => Promise<string>;

/**
 * Creates a function for logins that signs tokens, which `jwtAuth` accepts with the same secret, issuer and audience.
 * @throws ConfigurationError for invalid options. The function throws PluginError for invalid claims
 * @example
 * const sign = createTokenSigner({ secret: process.env.JWT_SECRET, issuer: "https://shop.example", audience: "shop" });
 * const token = await sign({ sub: user.id, role: user.role });
 */
export function createTokenSigner(options: TokenSignerOptions): TokenSigner {
  const { secret, issuer, audience, expiresIn = 900, algorithm = "HS256", typ = "JWT" } = options;
  const problems = [...claimProblems(options), ...secretProblems(secret, [algorithm])];
  if (!SECRET_ALGORITHMS.includes(algorithm))
    problems.push(`\`algorithm\` must be one of ${SECRET_ALGORITHMS.join(", ")}`);
  if (!Number.isInteger(expiresIn) || expiresIn < 1) problems.push("`expiresIn` must be a whole number of seconds");
  if (problems.length > 0) throw new ConfigurationError(problems.map((sentence) => `createTokenSigner: ${sentence}`));

  const key = secretKey(secret as string | Uint8Array);
  const aud = typeof audience === "string" ? audience : [...audience];
  return async (claims) => {
    if (typeof claims.sub !== "string" || claims.sub === "")
      throw new PluginError("A token needs `sub`, the id of its user, as a non-empty string");
    const now = Math.floor(Date.now() / 1_000);
    const { SignJWT } = await import("jose"); // apps that sign no tokens need not load it
    const token = await new SignJWT({ ...claims, iss: issuer, aud, iat: now, exp: now + expiresIn })
      .setProtectedHeader({ alg: algorithm, typ })
      .sign(key);
    if (token.length > MAX_TOKEN_BYTES)
      throw new PluginError(`A token may have ${MAX_TOKEN_BYTES} bytes; put less into its claims`);
    return token;
  };
}
