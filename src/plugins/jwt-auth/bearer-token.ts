/** The longest token in bytes. Longer tokens are not decoded. */
export const MAX_TOKEN_BYTES = 8_192;

/** The scheme in any case (RFC 9110 section 11.1), then three parts of base64url (RFC 7515 section 7.1). */
const BEARER = /^bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;

/**
 * The token in an `Authorization` header (RFC 6750 section 2.1). Undefined for other values: another scheme, no token,
 * two tokens, or a token that is too long.
 */
export function bearerToken(authorization: string): string | undefined {
  const token = BEARER.exec(authorization)?.[1];
  return token === undefined || token.length > MAX_TOKEN_BYTES ? undefined : token;
}
