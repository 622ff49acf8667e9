import { AuthenticationError } from "../../kernel/index.ts";

/**
 * The one answer to every bad token. Why it is bad would help who forges one more than who has an old one, so it is in
 * the log only. The challenge is that of RFC 6750 section 3.1, without a description.
 */
export function tokenRefused(): AuthenticationError {
  return new AuthenticationError("The access token is not valid", {
    headers: { "www-authenticate": 'Bearer error="invalid_token"' },
  });
}
