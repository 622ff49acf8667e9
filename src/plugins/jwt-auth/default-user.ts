import type { User } from "../../kernel/index.ts";
import type { TokenClaims } from "./jwt-auth-options.ts";

/** The user of a token: `sub` as id, `role` and `roles` where they have the form that rules expect, and nothing else. */
export function defaultUser({ sub, role, roles }: TokenClaims): User {
  return {
    id: sub,
    ...(typeof role === "string" ? { role } : {}),
    ...(Array.isArray(roles) && roles.every((name) => typeof name === "string") ? { roles } : {}),
  };
}
