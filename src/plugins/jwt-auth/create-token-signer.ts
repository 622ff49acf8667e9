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

/** Options of `createTokenSigner`; those of `jwtAuth` have the same names and meanings. */
export interface TokenSignerOptions {
  /** At least as many bytes as the hash of the algorithm, 32 for HS256 (RFC 7518 section 3.2). */
  readonly secret: string | Uint8Array | undefined;
  readonly issuer: string;
  readonly audience: string | readonly string[];
  /** Seconds a token is valid for. It cannot be called back earlier, so keep it short. @default 900 */
  readonly expiresIn?: number | undefined;
  /** @default "HS256" */
  readonly algorithm?: SecretAlgorithm | undefined;
  /** The kind of token, for its header. @default "JWT" */
  readonly typ?: string | undefined;
}

/** Makes a token that says `claims`; `iss`, `aud`, `iat` and `exp` are the signer's. */
export type TokenSigner = (claims: { readonly sub: string; readonly [claim: string]: unknown }) => Promise<string>;

/**
 * A function that signs tokens which `jwtAuth` with the same secret, issuer and audience accepts: for a login.
 * @throws ConfigurationError when the options are wrong; the function throws PluginError when the claims are
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
    const { SignJWT } = await import("jose"); // apps that sign nothing need not wait for it
    const token = await new SignJWT({ ...claims, iss: issuer, aud, iat: now, exp: now + expiresIn })
      .setProtectedHeader({ alg: algorithm, typ })
      .sign(key);
    if (token.length > MAX_TOKEN_BYTES)
      throw new PluginError(`A token may have ${MAX_TOKEN_BYTES} bytes; put less into its claims`);
    return token;
  };
}
