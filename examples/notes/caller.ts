import type { User } from "keelson";

/** `Bearer ann` is Ann: a demo trusts every header. The guide to JSON Web Tokens shows real authentication. */
export function callerFrom(authorization: string | null | undefined): User | null {
  const id = /^Bearer (\w+)$/.exec(authorization ?? "")?.[1];
  return id === undefined ? null : { id };
}

/** The caller for public pages: a user who owns no records. */
export const visitor: User = { id: "visitor" };
