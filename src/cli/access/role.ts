/**
 * The caller: anonymous, a logged-in user, the owner of the record, or an administrator. Custom rules derive all other
 * roles from these.
 */
export const ROLES = ["anonymous", "user", "owner", "admin"] as const;
export type Role = (typeof ROLES)[number];
