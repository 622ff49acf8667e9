import type { KernelRequest, KernelResponse } from "../request/messages.ts";
import type { Scope } from "../request/scope.ts";
import type { KernelRoute, KernelRouteContext } from "../routes/kernel-route.ts";

/** A request on its way through the kernel. */
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
   * Checks the route's own rules, runs its handler, and makes a response of the result, in the given scope: the call's,
   * or one of its transactions. A hook may replace it with its own function, which may call this one; the function of
   * the plugin that was set up last is called first.
   */
  respond(scope: Scope): Promise<KernelResponse>;
}

/** May this caller use this route? Denied until a hook sets `allowed`. */
export interface KernelRouteAuthorization {
  readonly route: KernelRoute;
  readonly rules: readonly string[];
  readonly scope: Scope;
  allowed: boolean;
}

/** Every hook that the kernel runs, by the payload of its functions. */
export interface KernelHooks {
  /** A route was found; the caller is not known yet. A thrown error becomes the response. */
  "request:start": KernelRequestEvent;
  /**
   * The response is ready, once per request; headers may still change. An error thrown on an error response is only
   * logged.
   */
  "request:end": KernelResponseEvent;
  /**
   * The caller is known; no rule has run, and no body was read. A thrown error becomes the response. `respond` may be
   * replaced: to run the handler in a transaction, to see the response before it commits, or to return another one.
   */
  "route:around": KernelRouteCall;
  /** Decides whether the caller may use a route that has rules of its own (plugin endpoints). */
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

/** How a hook function runs. */
export interface KernelHookOptions {
  /** Milliseconds an asynchronous run may take; 0 = no limit but the request's. @default limits.hookMs */
  readonly timeout?: number | undefined;
}
