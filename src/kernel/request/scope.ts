import type { ScopedContainer } from "../container/scoped-container.ts";
import type { HttpExchange } from "./messages.ts";
import type { ErrorContent } from "./present.ts";

/** The initial values of a scope. */
export interface ScopeInit {
  readonly principal: Principal;
  readonly requestId: string;
  /** @default no request: in-process work */
  readonly exchange?: HttpExchange | undefined;
}

/** The work of one caller: a request, a job, or an in-process call. */
export interface Scope extends ScopeInit {
  readonly exchange: HttpExchange | undefined;
  /** Services; the scope is created on first use. */
  readonly services: ScopedContainer;
}

/** A scope with a method to close it and its services, for the code that opened it. */
export interface OpenScope extends Scope {
  /** Never rejects; errors are logged. */
  close(): Promise<void> | undefined;
}

/** Creates scopes and presents their results. The gate has its own implementation. */
export interface Scopes {
  open(init: ScopeInit): OpenScope;
  /** Serializes a value to JSON text; undefined for values that JSON cannot express. */
  toJson(value: unknown, scope: Scope): string | undefined | Promise<string | undefined>;
  /** Returns the error's body for the caller; undefined uses the default body. */
  presentError(error: unknown, scope: Scope): Promise<ErrorContent | undefined>;
}

/** A signed-in person or program, as returned by the app's `getUser`. The framework uses `id` only. */
export interface User {
  readonly id: string;
  readonly [property: string]: unknown;
}

/**
 * The identity that an operation runs as. There are three explicit kinds; no code path turns a missing user into the
 * system.
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
