import Negotiator from "negotiator";
import { isKeelsonError } from "../../entity/base/keelson-error.ts";
import {
  AuthenticationError,
  AuthorizationError,
  EntityNotFoundError,
  MethodNotAllowedError,
  UnavailableError,
} from "../errors/errors.ts";
import { type HookRegistry, passesRules, runHooks } from "../hooks/hook-registry.ts";
import type { KernelRouteCall } from "../hooks/kernel-hooks.ts";
import { describeError, type Logger } from "../log/logger.ts";
import { readBody } from "../request/body-reading.ts";
import type { Limits } from "../request/limits.ts";
import type { KernelRequest, KernelResponse } from "../request/messages.ts";
import { ANONYMOUS, type Scope, type Scopes } from "../request/scope.ts";
import { type KernelRoute, type KernelRouteContext, Reply } from "../routes/kernel-route.ts";
import { canonicalize, decodeParams, type RouteRegistry } from "../routes/route-registry.ts";
import { cancelBody, Exchange, endWith, InFlight, isStream, type LargeAnswers } from "./exchange.ts";
import { findPrincipal, type IdentityOptions, refuseForged, type TrustedOrigins } from "./find-principal.ts";
import { errorResponse, formattedError } from "./handle-error.ts";
import { type BodyWriters, dropBody, finish, respond } from "./make-response.ts";
import { OpenStreams } from "./open-streams.ts";

export interface RequestHandlerOptions {
  readonly scopes: Scopes;
  readonly hooks: HookRegistry;
  readonly limits: Limits;
  readonly log: Logger;
  readonly routes: RouteRegistry;
  readonly apiPrefix: string;
  readonly identity: IdentityOptions;
  readonly trustedOrigins: TrustedOrigins;
  /** Resolves when the app can handle requests; throws or rejects when it cannot. */
  readonly started: () => Promise<void> | undefined;
}

/**
 * Handles requests: canonicalizes the URL, matches the route, runs hooks, finds the principal, runs the handler and
 * serializes the result. Never rejects.
 */
export class RequestHandler {
  readonly #options: RequestHandlerOptions;
  readonly #active = new InFlight<Exchange>();
  readonly #streams = new OpenStreams();
  readonly #large: LargeAnswers;
  readonly #writers: BodyWriters;
  #sweeper: NodeJS.Timeout | undefined;
  #idle: (() => void) | undefined;
  #closing = false;

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
    this.#large = { most: options.limits.answerBytes, bytes: 0 };
    this.#writers = {
      toJson: options.scopes.toJson,
      open: (stream, { exchange }) => this.#streams.chunks(stream, exchange?.signal),
    };
  }

  async handle(request: KernelRequest): Promise<KernelResponse> {
    const { limits, hooks } = this.#options;
    const exchange = new Exchange(request, Date.now() + limits.requestMs, this.#large);
    this.#begin(exchange);
    let work: Promise<KernelResponse> | undefined;
    let response: KernelResponse;
    let hasFailed = false;
    try {
      if (this.#closing) throw new UnavailableError("The server is shutting down");
      work = this.#answer(exchange);
      response = await exchange.within(work);
    } catch (error) {
      hasFailed = true;
      response = this.#failure(error, exchange);
    }
    const isLate = hasFailed && exchange.isExpired;
    if (hooks.list("request:end").length > 0) response = await this.#announce(exchange, response, hasFailed);
    if (isLate) void work?.then(cancelBody, () => {}).then(() => this.#end(exchange));
    else this.#end(exchange);
    if (request.method === "HEAD") dropBody(response);
    exchange.holdUntilSent(response);
    return response;
  }

  /** Refuses new requests. Resolves when those in flight have a response and their work has ended or was abandoned. */
  async drain(): Promise<void> {
    this.#closing = true;
    this.#streams.close();
    if (this.#active.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    clearInterval(this.#sweeper);
  }

  async #answer(exchange: Exchange): Promise<KernelResponse> {
    const { scopes, hooks, limits, routes, identity, started } = this.#options;
    const { request, requestId } = exchange;
    const { path, search } = canonicalize(request.url, limits.urlBytes);
    const match = routes.find(request.method, path, request.base);
    if (match === undefined) {
      const right = routes.suggest(path, request.base);
      throw new EntityNotFoundError(right && `Not found. Did you mean ${right}?`);
    }
    if (!("route" in match)) {
      if (request.method !== "OPTIONS") throw new MethodNotAllowedError(match.allow);
      return respond(requestId, new Reply(204, undefined, { allow: match.allow.join(", ") }), null);
    }
    refuseForged(request, this.#options.trustedOrigins);
    const { route } = match;
    const params = decodeParams(match.params);
    exchange.route = route;
    if (route.timeout !== undefined) exchange.expires += route.timeout - limits.requestMs;
    exchange.params = params;
    const starting = route.early ? undefined : started();
    if (starting !== undefined) await starting;
    const starts = hooks.list("request:start");
    if (starts.length > 0) await runHooks(starts, { request, requestId, route, params });
    const principal = route.early ? ANONYMOUS : await findPrincipal(request, identity);
    const scope = scopes.open({ principal, requestId, exchange });
    let isStreaming = false;
    try {
      const response = await this.#around(exchange, route, params, search, scope);
      exchange.addHeaders(response);
      const { body } = response;
      isStreaming = isStream(body);
      if (isStream(body)) response.body = endWith(body, () => scope.close());
      return response;
    } catch (error) {
      // Presented here, because the rules that mask it need the scope's services, which are closed below.
      exchange.failure = { error, content: await scopes.presentError(error, scope) };
      throw error;
    } finally {
      const closing = isStreaming ? undefined : scope.close();
      if (closing !== undefined) await closing;
    }
  }

  /** Makes the route's response, with the `route:around` hooks of plugins. */
  #around(
    { request, requestId }: Pick<Exchange, "request" | "requestId">,
    route: KernelRoute,
    params: Readonly<Record<string, string>>,
    search: string,
    scope: Scope,
  ): Promise<KernelResponse> {
    const { hooks: registry, limits, apiPrefix } = this.#options;
    let body: Promise<unknown> | undefined;
    const context: KernelRouteContext = {
      route,
      request,
      requestId,
      params,
      search,
      root: request.base ?? apiPrefix,
      scope,
      body: () => (body ??= readBody(request, limits, route.body)),
      dispatch: (inner, of, check) => this.#dispatch({ request: inner, requestId }, of, check),
    };
    const hooks = registry.list("route:around");
    if (hooks.length === 0) return this.#respond(context);
    const respond: KernelRouteCall["respond"] = (inner) => this.#respond({ ...context, scope: inner });
    const call: KernelRouteCall = { ...context, respond };
    const running = runHooks(hooks, call);
    return running === undefined ? call.respond(scope) : running.then(() => call.respond(scope));
  }

  /** Answers a request within the scope of another request. */
  async #dispatch(
    inner: Pick<Exchange, "request" | "requestId">,
    scope: Scope,
    check?: (route: never) => void,
  ): Promise<KernelResponse> {
    const { routes, limits, hooks } = this.#options;
    const { request, requestId } = inner;
    const { path, search } = canonicalize(request.url, limits.urlBytes);
    const match = routes.find(request.method, path, request.base);
    if (match === undefined) throw new EntityNotFoundError();
    if (!("route" in match)) throw new MethodNotAllowedError(match.allow);
    const { route } = match;
    check?.(route as never);
    const params = decodeParams(match.params);
    // Counts towards quotas like any request.
    const starts = hooks.list("request:start");
    if (starts.length > 0) await runHooks(starts, { request, requestId, route, params });
    return this.#around(inner, route, params, search, scope);
  }

  /** Makes a response from the handler's result, if the caller may use the route. */
  async #respond(context: KernelRouteContext): Promise<KernelResponse> {
    const { route, requestId, scope } = context;
    if (route.rules !== undefined) await this.#authorizeRoute(route, route.rules, scope);
    return finish(await route.handler(context), requestId, scope, this.#writers);
  }

  async #authorizeRoute(route: KernelRoute, rules: readonly string[], scope: Scope): Promise<void> {
    if (await passesRules(this.#options.hooks, route, rules, scope)) return;
    throw scope.principal.kind === "anonymous" ? new AuthenticationError() : new AuthorizationError();
  }

  /** Runs `request:end`. An error of the hook replaces the response, unless that is already an error. */
  async #announce(exchange: Exchange, response: KernelResponse, hasFailed: boolean): Promise<KernelResponse> {
    const { request, requestId, route, params } = exchange;
    const { hooks, log } = this.#options;
    try {
      await runHooks(hooks.list("request:end"), { request, requestId, route, params, response });
      return response;
    } catch (error) {
      if (hasFailed) {
        log.error("A request:end hook failed", { requestId, ...describeError(error) });
        return response;
      }
      void cancelBody(response);
      return this.#failure(error, exchange);
    }
  }

  #failure(error: unknown, { request, requestId, route, failure }: Exchange): KernelResponse {
    const { log } = this.#options;
    const status = isKeelsonError(error) ? error.status : 500;
    const path = request.url.split("?", 1)[0]?.slice(0, 200);
    // Not logged as an error when the client disconnected before this 503: clients could fill the log by disconnecting.
    const isGone = error instanceof UnavailableError && request.signal?.aborted === true;
    if (status >= 500 && !isGone)
      log.error("Request failed", { requestId, method: request.method, path, ...describeError(error) });
    else log.debug("Request refused", { requestId, method: request.method, path, status });
    const content = failure?.error === error ? failure?.content : undefined; // not after the deadline has passed
    const format = route?.errorFormat;
    if (format !== undefined) {
      try {
        return formattedError(error, requestId, { content, format: (body) => format(body, request) });
      } catch (reason) {
        log.error("An error format failed", { requestId, plugin: route?.plugin, ...describeError(reason) });
      }
    }
    const problemJson = acceptsProblem(request.headers.accept);
    return errorResponse(error, requestId, { problemJson, instance: (request.base ?? "") + path, content });
  }

  /** Uses one timer for all requests, with a resolution of a second and no cost per request. */
  #begin(exchange: Exchange): void {
    this.#sweeper ??= setInterval(() => this.#sweep(), 1_000);
    if (this.#active.size === 0) this.#sweeper.ref(); // keeps a script alive until its request ends
    exchange.place = this.#active.enter(exchange);
  }

  #end(exchange: Exchange): void {
    if (exchange.place === undefined) return;
    this.#active.leave(exchange.place);
    exchange.place = undefined;
    if (this.#active.size > 0) return;
    this.#sweeper?.unref();
    this.#idle?.();
  }

  /**
   * Ends requests that take too long. Work that continues is abandoned `hookMs` later, so that closing always
   * completes.
   */
  #sweep(): void {
    const now = Date.now();
    const { hookMs } = this.#options.limits;
    for (const exchange of this.#active) {
      if (!exchange.isExpired && exchange.expires <= now) exchange.expire();
      else if (exchange.isExpired && exchange.expires + hookMs <= now) this.#end(exchange);
    }
  }
}

const PROBLEM = "application/problem+json";

/**
 * Whether the client explicitly accepts the media type of RFC 9457 (RFC 9110 section 12.5.1); wildcards do not count.
 */
function acceptsProblem(accept: string | readonly string[] | undefined): boolean {
  if (accept === undefined) return false;
  const header = [accept].flat().join().toLowerCase();
  // A cheap check first: nearly all requests do not need the parser.
  return header.includes(PROBLEM) && new Negotiator({ headers: { accept: header } }).mediaTypes().includes(PROBLEM);
}
