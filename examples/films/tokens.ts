import type { User } from "keelson";
import { createTokenSigner } from "keelson/jwt";

/** The options for signing and verifying tokens. */
export function tokenOptions(secret: string) {
  return { secret, issuer: "https://films.example", audience: "films" } as const;
}

/** Signs a token that identifies a user. */
export type SignToken = (user: User) => Promise<string>;

/** A day, so that the printed requests keep working; a real API uses minutes. */
const EXPIRES_IN = 86_400;

export function createSigner(secret: string): SignToken {
  const sign = createTokenSigner({ ...tokenOptions(secret), expiresIn: EXPIRES_IN });
  return ({ id, role }) => sign({ sub: id, role });
}
