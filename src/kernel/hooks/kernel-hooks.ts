import type { KernelRequest, KernelResponse } from "../request/messages.ts";
import type { Scope } from "../request/scope.ts";
import type { KernelRoute, KernelRouteContext } from "../routes/kernel-route.ts";

/** A request that the kernel processes. */
export interface KernelRequestEvent {
  readonly request: KernelRequest;
  readonly requestId: string;
  readonly route: KernelRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** An outgoing response; `route` and `params` are undefined when no route matched. */
export interface KernelResponseEvent extends Omit<KernelRequestEvent, "route" | "params"> {
  readonly route: KernelRoute | undefined;
  readonly params: Readonly<Record<string, string>> | undefined;
  readonly response: KernelResponse;
}

/** A request whose route and caller are known. */
export interface KernelRouteCall extends KernelRouteContext {
  /**
   * Checks the route's own rules, runs its handler, and makes a response of the result in the given scope: the call's,
   * or one of its transactions. A hook may replace this function with its own, which may call the previous one; the
   * function of the last plugin runs first.
   */
  respond(scope: Scope): Promise<KernelResponse>;
}

/** Decides whether the caller may use the route. Denied until a hook sets `allowed`. */
export interface KernelRouteAuthorization {
  readonly route: KernelRoute;
  readonly rules: readonly string[];
  readonly scope: Scope;
  allowed: boolean;
}

/** All hooks of the kernel, with the payload of their functions. */
export interface KernelHooks {
  /** Runs when a route was found; the caller is not known yet. A thrown error becomes the response. */
  "request:start": KernelRequestEvent;
  /**
   * Runs once per request when the response is ready; headers may still be changed. An error that is thrown for an
   * error response is only logged.
   */
  "request:end": KernelResponseEvent;
  /**
   * Runs when the caller is known, before rules and before the body is read. A thrown error becomes the response.
   * `respond` may be replaced: to run the handler in a transaction, to see the response before the transaction commits,
   * or to return another response.
   */
  "route:around": KernelRouteCall;
  /** Decides whether the caller may use a route with its own rules (plugin endpoints). */
  "route:authorize": KernelRouteAuthorization;
}

const NAMES: Readonly<Record<keyof KernelHooks, true>> = {
  "request:start": true,
  "request:end": true,
  "route:around": true,
  "route:authorize": true,
};

/** The names of the kernel's hooks. */
export const KERNEL_HOOKS: readonly string[] = Object.freeze(Object.keys(NAMES));

/** Options of a hook function. */
export interface KernelHookOptions {
  /** Milliseconds that an asynchronous function may take; 0 means no limit but the request's. @default limits.hookMs */
  readonly timeout?: number | undefined;
}
