import { isKeelsonError } from "../../entity/index.ts";
import {
  AuthenticationError,
  AuthorizationError,
  EntityNotFoundError,
  InternalError,
  MethodNotAllowedError,
  UnavailableError,
} from "../errors/errors.ts";
import { describeError, handleError } from "../errors/handle-error.ts";
import type { RequestEvent, RouteAuthorization } from "../hooks/hook-map.ts";
import { runHooks } from "../hooks/hook-registry.ts";
import { RequestScope } from "../operations/request-scope.ts";
import type { OperationRuntime } from "../operations/runtime.ts";
import { ANONYMOUS } from "../ports/principal.ts";
import { present } from "../records/serialize.ts";
import { Reply, type Route, type RouteContext } from "../routes/route.ts";
import type { RouteRegistry } from "../routes/route-registry.ts";
import { canonicalize, decodeParams } from "./canonicalize.ts";
import { fromWebRequest, toWebResponse } from "./fetch.ts";
import { findPrincipal, type IdentityOptions } from "./find-principal.ts";
import type { KernelRequest, KernelResponse } from "./messages.ts";
import { readJsonBody } from "./read-body.ts";

const JSON_TYPE = "application/json; charset=utf-8";

export interface RequestHandlerOptions {
  readonly runtime: OperationRuntime;
  readonly routes: RouteRegistry;
  readonly apiPrefix: string;
  readonly identity: IdentityOptions;
  /** Resolves when the app can answer; throws what keeps it from doing so. */
  readonly started: () => Promise<void> | undefined;
}

interface Active {
  readonly expires: number;
  expire(): void;
}

/** Answers requests: canonicalize, match, hooks, principal, handler, serialize (architecture.md 3.3). Never rejects. */
export class RequestHandler {
  readonly #options: RequestHandlerOptions;
  readonly #active = new Set<Active>();
  #sweeper: NodeJS.Timeout | undefined;
  #idle: (() => void) | undefined;
  #closing = false;

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
  }

  async handle(request: KernelRequest): Promise<KernelResponse> {
    const requestId = crypto.randomUUID();
    const controller = new Deadline(request);
    const active = this.#begin(controller);
    let response: KernelResponse;
    try {
      if (this.#closing) throw new UnavailableError("The server is shutting down");
      const answer = this.#answer(request, requestId, controller);
      response = await Promise.race([answer, controller.expired]);
    } catch (error) {
      response = this.#failure(error, request, requestId);
    } finally {
      this.#end(active);
    }
    if (request.method === "HEAD") dropBody(response);
    return response;
  }

  async fetch(request: Request): Promise<Response> {
    return toWebResponse(await this.handle(fromWebRequest(request)));
  }

  /** Refuses new requests and resolves when those in flight are answered. */
  async drain(): Promise<void> {
    this.#closing = true;
    if (this.#active.size > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
    clearInterval(this.#sweeper);
  }

  async #answer(request: KernelRequest, requestId: string, deadline: Deadline): Promise<KernelResponse> {
    const { runtime, routes, identity, started, apiPrefix } = this.#options;
    const { path, search } = canonicalize(request.url, runtime.limits.urlBytes);
    const match = routes.find(request.method, path, request.base);
    if (match === undefined) throw new EntityNotFoundError();
    if (!("route" in match)) {
      if (request.method !== "OPTIONS") throw new MethodNotAllowedError(match.allow);
      return respond(requestId, new Reply(204, undefined, { allow: match.allow.join(", ") }), null);
    }
    const { route } = match;
    const starting = route.early ? undefined : started();
    if (starting !== undefined) await starting;
    const params = decodeParams(match.params);
    const event: RequestEvent = { request, requestId, route, params };
    await runHooks(runtime.hooks.list("request:start"), event);
    const principal = route.early ? ANONYMOUS : await findPrincipal(request, identity);
    const scope = new RequestScope(runtime, {
      principal,
      requestId,
      get request() {
        return request.raw;
      },
      get signal() {
        return deadline.signal;
      },
    });
    if (route.rules !== undefined) await this.#authorizeRoute(route, route.rules, scope);
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
    const result = await route.handler(context);
    const response = await finish(result, requestId, scope);
    const ending = runtime.hooks.list("request:end");
    if (ending.length > 0) await runHooks(ending, { ...event, response });
    return response;
  }

  async #authorizeRoute(route: Route, rules: readonly string[], scope: RequestScope): Promise<void> {
    const authorization: RouteAuthorization = { route, rules, scope, allowed: false };
    await runHooks(this.#options.runtime.hooks.list("route:authorize"), authorization);
    if (authorization.allowed) return;
    throw scope.principal.kind === "anonymous" ? new AuthenticationError() : new AuthorizationError();
  }

  #failure(error: unknown, request: KernelRequest, requestId: string): KernelResponse {
    const { log } = this.#options.runtime;
    const status = isKeelsonError(error) ? error.status : 500;
    const path = request.url.split("?", 1)[0]?.slice(0, 200);
    if (status >= 500)
      log.error("Request failed", { requestId, method: request.method, path, ...describeError(error) });
    else log.debug("Request refused", { requestId, method: request.method, path, status });
    const accept = request.headers.accept;
    const problemJson = typeof accept === "string" && accept.includes("application/problem+json");
    const { headers, body, ...reply } = handleError(error, {
      requestId,
      problemJson,
      instance: (request.base ?? "") + path,
    });
    return { status: reply.status, headers: { ...baseHeaders(requestId), ...headers }, body: JSON.stringify(body) };
  }

  /** One coarse timer for all requests: exact to a second, and nothing per request. */
  #begin(deadline: Deadline): Active {
    this.#sweeper ??= setInterval(() => this.#sweep(), 1_000).unref();
    const active = { expires: Date.now() + this.#options.runtime.limits.requestMs, expire: () => deadline.expire() };
    this.#active.add(active);
    return active;
  }

  #end(active: Active): void {
    this.#active.delete(active);
    if (this.#active.size === 0) this.#idle?.();
  }

  #sweep(): void {
    const now = Date.now();
    for (const active of this.#active) if (active.expires <= now) active.expire();
  }
}

/** Ends a request that takes too long: rejects, and aborts the signal that handlers were given. */
class Deadline {
  readonly expired: Promise<never>;
  readonly #request: KernelRequest;
  #reject: (error: Error) => void = () => {};
  #controller: AbortController | undefined;
  #signal: AbortSignal | undefined;

  constructor(request: KernelRequest) {
    this.#request = request;
    this.expired = new Promise((_resolve, reject) => {
      this.#reject = reject;
    });
    this.expired.catch(() => {}); // the race may have been won already
  }

  /** Made on first use, as the adapter's own: most requests never look at it. */
  get signal(): AbortSignal {
    if (this.#signal !== undefined) return this.#signal;
    this.#controller = new AbortController();
    const own = this.#controller.signal;
    const outer = this.#request.signal;
    this.#signal = outer === undefined ? own : AbortSignal.any([outer, own]);
    return this.#signal;
  }

  expire(): void {
    this.#controller?.abort();
    this.#reject(new UnavailableError("The request took too long"));
  }
}

/** GET's headers without its body; a stream is not even begun. */
function dropBody(response: KernelResponse): void {
  const { body } = response;
  if (typeof body === "string" || body instanceof Uint8Array)
    response.headers["content-length"] = String(Buffer.byteLength(body));
  else
    void body?.[Symbol.asyncIterator]()
      .return?.()
      .catch(() => {});
  response.body = null;
}

function baseHeaders(requestId: string): Record<string, string | readonly string[]> {
  return {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
    vary: "Authorization, Cookie, Origin",
  };
}

/** A handler's result as a response: every record in it is masked, everything is JSON unless it is a Response or a stream. */
async function finish(result: unknown, requestId: string, scope: RequestScope): Promise<KernelResponse> {
  if (result instanceof Response) return fromWebResponse(result, requestId);
  const reply = result instanceof Reply ? result : new Reply(result === undefined ? 204 : 200, result);
  const { body } = reply;
  if (body === undefined) return respond(requestId, reply, null);
  if (body instanceof Uint8Array || isAsyncIterable(body))
    return respond(requestId, reply, body as KernelResponse["body"]);
  return respond(requestId, reply, toJson(present(body, scope, true)), JSON_TYPE);
}

function toJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new InternalError("The result cannot be written as JSON");
  return text;
}

function isAsyncIterable(value: unknown): boolean {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function respond(requestId: string, reply: Reply, body: KernelResponse["body"], type?: string): KernelResponse {
  const headers = baseHeaders(requestId);
  if (type !== undefined) headers["content-type"] = type;
  return { status: reply.status, headers: Object.assign(headers, reply.headers), body };
}

async function fromWebResponse(response: Response, requestId: string): Promise<KernelResponse> {
  const headers: Record<string, string | readonly string[]> = {
    ...baseHeaders(requestId),
    ...Object.fromEntries(response.headers),
  };
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  return {
    status: response.status,
    headers,
    body: response.body === null ? null : (response.body as unknown as AsyncIterable<Uint8Array>),
  };
}
