import type { ScopedContainer } from "../container/scoped-container.ts";
import type { HttpExchange } from "./messages.ts";
import type { ErrorContent } from "./present.ts";

/** What a scope begins with. */
export interface ScopeInit {
  readonly principal: Principal;
  readonly requestId: string;
  /** @default no request: work in the process */
  readonly exchange?: HttpExchange | undefined;
}

/** What happens on behalf of one caller: a request, a job, a call in the process. */
export interface Scope extends ScopeInit {
  readonly exchange: HttpExchange | undefined;
  /** Services; the scope is created on first use. */
  readonly services: ScopedContainer;
}

/** A scope as its owner sees it: the owner closes it, together with its services. */
export interface OpenScope extends Scope {
  /** Never rejects: its work is done. */
  close(): Promise<void> | undefined;
}

/** How an app creates scopes and presents their results. The gate brings its own. */
export interface Scopes {
  open(init: ScopeInit): OpenScope;
  /** A value as JSON text; undefined for values that JSON cannot express. */
  toJson(value: unknown, scope: Scope): string | undefined | Promise<string | undefined>;
  /** The error's body for the caller; undefined without one. */
  presentError(error: unknown, scope: Scope): Promise<ErrorContent | undefined>;
}

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

/** Returns the current time; replaced in tests. */
export interface Clock {
  now(): Date;
}
