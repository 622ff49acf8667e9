import { isKeelsonError } from "../../entity/index.ts";
import { InFlight } from "../async/in-flight.ts";
import {
  AuthenticationError,
  AuthorizationError,
  EntityNotFoundError,
  InternalError,
  MethodNotAllowedError,
  UnavailableError,
} from "../errors/errors.ts";
import { describeError, handleError } from "../errors/handle-error.ts";
import type { RouteCall } from "../hooks/hook-map.ts";
import { runHooks } from "../hooks/hook-registry.ts";
import { passesRules } from "../operations/may-use.ts";
import { RequestScope } from "../operations/request-scope.ts";
import type { OperationRuntime } from "../operations/runtime.ts";
import type { OperationScope } from "../operations/scope.ts";
import { ANONYMOUS } from "../ports/principal.ts";
import { presentError } from "../records/present-error.ts";
import { toJson } from "../records/to-json.ts";
import { Reply, type Route, type RouteContext } from "../routes/route.ts";
import type { RouteRegistry } from "../routes/route-registry.ts";
import { baseHeaders } from "./base-headers.ts";
import { cancelBody, isStream } from "./cancel-body.ts";
import { canonicalize, decodeParams } from "./canonicalize.ts";
import { endWith } from "./end-with.ts";
import { Exchange, type LargeAnswers } from "./exchange.ts";
import { fromWebResponse, isWebResponse } from "./fetch.ts";
import { findPrincipal, type IdentityOptions } from "./find-principal.ts";
import type { KernelRequest, KernelResponse } from "./messages.ts";
import { readJsonBody } from "./read-body.ts";
import { refuseForged, type TrustedOrigins } from "./refuse-forged.ts";

const JSON_TYPE = "application/json; charset=utf-8";

export interface RequestHandlerOptions {
  readonly runtime: OperationRuntime;
  readonly routes: RouteRegistry;
  readonly apiPrefix: string;
  readonly identity: IdentityOptions;
  readonly trustedOrigins: TrustedOrigins;
  /** Resolves when the app can answer; throws what keeps it from doing so. */
  readonly started: () => Promise<void> | undefined;
}

/** Answers requests: canonicalize, match, hooks, principal, handler, serialize. Never rejects. */
export class RequestHandler {
  readonly #options: RequestHandlerOptions;
  readonly #active = new InFlight<Exchange>();
  readonly #large: LargeAnswers;
  #sweeper: NodeJS.Timeout | undefined;
  #idle: (() => void) | undefined;
  #closing = false;

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
    this.#large = { most: options.runtime.limits.answerBytes, bytes: 0 };
  }

  async handle(request: KernelRequest): Promise<KernelResponse> {
    const { limits, hooks } = this.#options.runtime;
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

  /** Refuses new requests; resolves when those in flight are answered and their work, too, has ended or has been given up. */
  async drain(): Promise<void> {
    this.#closing = true;
    if (this.#active.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    clearInterval(this.#sweeper);
  }

  async #answer(exchange: Exchange): Promise<KernelResponse> {
    const { runtime, routes, identity, started } = this.#options;
    const { request, requestId } = exchange;
    const { path, search } = canonicalize(request.url, runtime.limits.urlBytes);
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
    if (route.timeout !== undefined) exchange.expires += route.timeout - runtime.limits.requestMs;
    exchange.params = params;
    const starting = route.early ? undefined : started();
    if (starting !== undefined) await starting;
    const starts = runtime.hooks.list("request:start");
    if (starts.length > 0) await runHooks(starts, { request, requestId, route, params });
    const principal = route.early ? ANONYMOUS : await findPrincipal(request, identity);
    const scope = new RequestScope(runtime, { principal, requestId, exchange });
    let isStreaming = false;
    try {
      const response = await this.#around(exchange, route, params, search, scope);
      exchange.addHeaders(response);
      const { body } = response;
      isStreaming = isStream(body);
      if (isStream(body)) response.body = endWith(body, () => scope.close());
      return response;
    } catch (error) {
      // Now: rules that decide what it may show have services until the scope is closed.
      exchange.failure = { error, content: await presentError(error, scope) };
      throw error;
    } finally {
      const closing = isStreaming ? undefined : scope.close();
      if (closing !== undefined) await closing;
    }
  }

  /** The route's answer, with what plugins have put around it. */
  async #around(
    { request, requestId }: Exchange,
    route: Route,
    params: Readonly<Record<string, string>>,
    search: string,
    scope: RequestScope,
  ): Promise<KernelResponse> {
    const { runtime, apiPrefix } = this.#options;
    let body: Promise<unknown> | undefined;
    const context: RouteContext = {
      route,
      request,
      requestId,
      params,
      search,
      root: request.base ?? apiPrefix,
      scope,
      body: () => (body ??= readJsonBody(request, runtime.limits)),
    };
    const hooks = runtime.hooks.list("route:around");
    if (hooks.length === 0) return this.#respond(context);
    const respond: RouteCall["respond"] = (inner) => this.#respond({ ...context, scope: inner });
    const call: RouteCall = { ...context, respond };
    await runHooks(hooks, call);
    return call.respond(scope);
  }

  /** What the route's handler makes of the request, if the caller may use the route. */
  async #respond(context: RouteContext): Promise<KernelResponse> {
    const { route, requestId, scope } = context;
    if (route.rules !== undefined) await this.#authorizeRoute(route, route.rules, scope);
    return finish(await route.handler(context), requestId, scope);
  }

  async #authorizeRoute(route: Route, rules: readonly string[], scope: OperationScope): Promise<void> {
    if (await passesRules(this.#options.runtime.hooks, route, rules, scope)) return;
    throw scope.principal.kind === "anonymous" ? new AuthenticationError() : new AuthorizationError();
  }

  /** Runs `request:end`. An error answer stays; in place of any other one comes the error of the hook. */
  async #announce(exchange: Exchange, response: KernelResponse, hasFailed: boolean): Promise<KernelResponse> {
    const { request, requestId, route, params } = exchange;
    const { hooks, log } = this.#options.runtime;
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

  #failure(error: unknown, { request, requestId, failure }: Exchange): KernelResponse {
    const { log } = this.#options.runtime;
    const status = isKeelsonError(error) ? error.status : 500;
    const path = request.url.split("?", 1)[0]?.slice(0, 200);
    // Nobody waits for the answer: whoever goes away while it is made could fill the log.
    const isGone = error instanceof UnavailableError && request.signal?.aborted === true;
    if (status >= 500 && !isGone)
      log.error("Request failed", { requestId, method: request.method, path, ...describeError(error) });
    else log.debug("Request refused", { requestId, method: request.method, path, status });
    const accept = request.headers.accept;
    const problemJson = typeof accept === "string" && accept.includes("application/problem+json");
    const { headers, body, ...reply } = handleError(error, {
      requestId,
      problemJson,
      instance: (request.base ?? "") + path,
      content: failure?.error === error ? failure?.content : undefined, // not when the deadline came in between
    });
    return { status: reply.status, headers: { ...baseHeaders(requestId), ...headers }, body: JSON.stringify(body) };
  }

  /** One coarse timer for all requests: exact to a second, and nothing per request. */
  #begin(exchange: Exchange): void {
    this.#sweeper ??= setInterval(() => this.#sweep(), 1_000);
    if (this.#active.size === 0) this.#sweeper.ref(); // a script lives until its request is answered or has expired
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

  /** Ends what takes too long. Work that goes on after that is given up `hookMs` later, so that closing always completes. */
  #sweep(): void {
    const now = Date.now();
    const { hookMs } = this.#options.runtime.limits;
    for (const exchange of this.#active) {
      if (!exchange.isExpired && exchange.expires <= now) exchange.expire();
      else if (exchange.isExpired && exchange.expires + hookMs <= now) this.#end(exchange);
    }
  }
}

/** GET's headers without its body. */
function dropBody(response: KernelResponse): void {
  const { body } = response;
  if (typeof body === "string" || body instanceof Uint8Array)
    response.headers["content-length"] = String(Buffer.byteLength(body));
  void cancelBody({ body });
  response.body = null;
}

/** A handler's result as a response: every record in it is masked, everything is JSON unless it is a Response or a stream. */
async function finish(result: unknown, requestId: string, scope: OperationScope): Promise<KernelResponse> {
  if (isWebResponse(result)) {
    const { status, headers, body } = fromWebResponse(result);
    return { status, headers: { ...baseHeaders(requestId), ...headers }, body };
  }
  const reply = result instanceof Reply ? result : new Reply(result === undefined ? 204 : 200, result);
  const { body } = reply;
  if (body === undefined) return respond(requestId, reply, null);
  if (body instanceof Uint8Array || isStream(body)) return respond(requestId, reply, body);
  const written = toJson(body, scope);
  const text = written instanceof Promise ? await written : written;
  if (text === undefined) throw new InternalError("The result cannot be written as JSON");
  return respond(requestId, reply, text, JSON_TYPE);
}

function respond(requestId: string, reply: Reply, body: KernelResponse["body"], type?: string): KernelResponse {
  const headers = baseHeaders(requestId);
  if (type !== undefined) headers["content-type"] = type;
  return { status: reply.status, headers: Object.assign(headers, reply.headers), body };
}
