// jwt-auth: authenticates callers by the JSON Web Token in `Authorization: Bearer` (RFC 6750, RFC 7519), following RFC
// 8725. A request without a token is anonymous; an invalid token is 401, never anonymous.

import { createPlugin, type Plugin } from "../../gate/index.ts";
import { AuthenticationError, isUserId, type User } from "../../kernel/index.ts";
import { bearerToken } from "./bearer-token.ts";
import { createVerifier } from "./create-verifier.ts";
import { checkOptions, type JwtAuthOptions, type TokenClaims } from "./jwt-auth-options.ts";

export { createTokenSigner, type TokenSigner, type TokenSignerOptions } from "./create-token-signer.ts";
export type { JwtAuthOptions, TokenClaims } from "./jwt-auth-options.ts";

const PLUGIN = { id: "jwt-auth", version: "1.0.0" };

/**
 * Authenticates callers by bearer tokens that are signed with a shared secret or with an issuer's keys. It replaces the
 * configuration's `getUser`; having both is a ConfigurationError. An adapter's own `getUser` takes precedence.
 *
 * Every invalid token gets the same 401, with `WWW-Authenticate: Bearer error="invalid_token"`. Other 401 responses get
 * the challenge `Bearer`. Keys that cannot be fetched are 503. Invalid options are a ConfigurationError when the app
 * starts.
 * @param options the secret or the address of the keys, and the claims that tokens need
 * @example
 * keelson({ entities, plugins: [jwtAuth({ secret: process.env.JWT_SECRET, issuer: "https://shop.example", audience: "shop" })] })
 */
export function jwtAuth(options: JwtAuthOptions): Plugin {
  const given = { ...options };
  const problems = checkOptions(given);
  if (problems.length > 0)
    return createPlugin({
      ...PLUGIN,
      setup({ problem }) {
        for (const sentence of problems) problem(`jwt-auth: ${sentence}`);
      },
    });

  const userOf = given.user ?? defaultUser;
  return createPlugin({
    ...PLUGIN,
    setup: () => createVerifier(given),
    async getUser({ headers }, { config, log }, verify) {
      const authorization = headers.get("authorization");
      if (authorization === null) return null;
      const token = bearerToken(authorization);
      const claims = token === undefined ? undefined : await verify(token, log);
      if (claims === undefined || !isUserId(claims.sub, config.limits)) throw tokenRefused();
      const user = await userOf(claims);
      if (user === null || user === undefined) throw tokenRefused();
      return user;
    },
    hooks: {
      // A 401 needs a challenge (RFC 9110 section 15.5.2).
      "request:end": ({ response }) => {
        if (response.status === 401) response.headers["www-authenticate"] ??= "Bearer";
      },
    },
  });
}

/**
 * The error for every invalid token. The reason would help attackers more than users with an old token, so it is only
 * logged. The challenge follows RFC 6750 section 3.1, without a description.
 */
function tokenRefused(): AuthenticationError {
  return new AuthenticationError("The access token is not valid", {
    headers: { "www-authenticate": 'Bearer error="invalid_token"' },
  });
}

/** The user of a token: `sub` as id, and `role` and `roles` if they have the type that rules expect. */
function defaultUser({ sub, role, roles }: TokenClaims): User {
  return {
    id: sub,
    ...(typeof role === "string" ? { role } : {}),
    ...(Array.isArray(roles) && roles.every((name) => typeof name === "string") ? { roles } : {}),
  };
}
