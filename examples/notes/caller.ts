import type { User } from "keelson";

/** `Bearer ann` is Ann: a demo believes everybody. The guide to JSON Web Tokens has callers who prove who they are. */
export function callerFrom(authorization: string | null | undefined): User | null {
  const id = /^Bearer (\w+)$/.exec(authorization ?? "")?.[1];
  return id === undefined ? null : { id };
}

/** The caller for pages that everyone may see: a user who owns nothing. */
export const visitor: User = { id: "visitor" };
