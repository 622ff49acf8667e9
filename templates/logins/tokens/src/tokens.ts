import type { User } from "keelson";
import { createTokenSigner } from "keelson/jwt";

/** How tokens are made and checked. The secret is in .env. */
export const tokens = {
  secret: process.env.JWT_SECRET,
  issuer: "https://__NAME__.example",
  audience: "__NAME__",
};

/** Seconds. A token cannot be called back before it expires. */
const EXPIRES_IN = 3600;

/** A token that identifies a user. */
export function signToken({ id, role }: User): Promise<string> {
  return createTokenSigner({ ...tokens, expiresIn: EXPIRES_IN })({ sub: id, role });
}
