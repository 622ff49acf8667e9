/** A signed-in person or program as the app's `getUser` describes them. Only `id` means something to the framework. */
export interface User {
  readonly id: string;
  readonly [property: string]: unknown;
}

/**
 * On whose behalf something happens. Three explicit kinds; no code path turns a missing user into the system.
 */
export type Principal =
  | { readonly kind: "anonymous"; readonly user: null; readonly isAdmin: false }
  | { readonly kind: "user"; readonly user: User; readonly isAdmin: boolean }
  | { readonly kind: "system"; readonly user: null; readonly isAdmin: true };

/** The principal of a caller without a user. */
export const ANONYMOUS: Principal = Object.freeze({ kind: "anonymous", user: null, isAdmin: false });
/** The principal of the app itself, which no rule restricts. */
export const SYSTEM: Principal = Object.freeze({ kind: "system", user: null, isAdmin: true });
