/**
 * Who asks: nobody who is known, somebody who is logged in, the one whom the record belongs to, an administrator. Other
 * roles are what custom rules make of these.
 */
export const ROLES = ["anonymous", "user", "owner", "admin"] as const;
export type Role = (typeof ROLES)[number];
