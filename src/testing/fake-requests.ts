import {
  type HookMap,
  type OperationScope,
  presentSettled,
  type Route,
  type RouteAuthorization,
  type RouteCall,
  type RouteContext,
} from "../gate/index.ts";
import {
  ANONYMOUS,
  AuthenticationError,
  AuthorizationError,
  describeError,
  EntityNotFoundError,
  type HookRegistry,
  type HttpExchange,
  handleError,
  type KernelRequest,
  type KernelResponse,
  type Logger,
  MethodNotAllowedError,
  matchRoute,
  type Principal,
  Reply,
  runHooks,
} from "../kernel/index.ts";

/** What a call sends along. */
export interface CallInit {
  readonly body?: unknown;
  readonly search?: string;
  /** In lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response of `call`. */
export interface FakeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: unknown;
}

export type Call = (method: string, path: string, init?: CallInit) => Promise<FakeResponse>;

/** What calls need of the fake kernel. */
export interface CallerParts {
  readonly routes: readonly Route[];
  readonly hooks: HookRegistry<HookMap>;
  readonly log: Logger;
  principal(request: KernelRequest): Promise<Principal>;
  scope(principal: Principal, exchange: HttpExchange): OperationScope;
}

/** The way of a request in the fake kernel: what the real one does, without bytes, paths to decode and deadlines. */
export function createCaller({ routes, hooks, log, principal, scope }: CallerParts): Call {
  async function call(method: string, path: string, init: CallInit = {}): Promise<FakeResponse> {
    const type = init.body === undefined ? undefined : "application/json";
    const body = init.body === undefined ? undefined : { kind: "parsed" as const, value: init.body };
    const request = { method, url: path, headers: { "content-type": type, ...init.headers }, body };
    let route: Route | undefined;
    let params: Readonly<Record<string, string>> | undefined;
    let reply: KernelResponse;
    let ended = false;
    const end = async (response: KernelResponse): Promise<void> => {
      if (ended) return;
      ended = true;
      await runHooks(hooks.list("request:end"), { request, requestId: "test", route, params, response });
    };
    try {
      route = findRoute(method, path);
      params = matchRoute(path, route.path) ?? {};
      reply = await answer(route, params, request, init);
      await end(reply);
    } catch (error) {
      const { status, headers, body } = handleError(error);
      reply = { status, headers: { ...headers }, body: JSON.stringify(body) };
      await end(reply).catch((again: unknown) => log.error("A hook failed on an error", describeError(again)));
    }
    return { ...reply, body: typeof reply.body === "string" ? JSON.parse(reply.body) : null };
  }

  /** Static segments win over parameters, as in the real kernel. */
  function findRoute(method: string, path: string): Route {
    const candidates = routes.filter((route) => matchRoute(path, route.path) !== null);
    const [found] = candidates
      .filter((route) => route.method === method)
      .sort((a, b) => a.path.split(":").length - b.path.split(":").length);
    if (found !== undefined) return found;
    if (candidates.length === 0) throw new EntityNotFoundError();
    const allow = candidates.map((route) => route.method);
    throw new MethodNotAllowedError([...new Set([...allow, ...(allow.includes("GET") ? ["HEAD"] : []), "OPTIONS"])]);
  }

  async function answer(
    route: Route,
    params: Readonly<Record<string, string>>,
    request: KernelRequest,
    init: CallInit,
  ): Promise<KernelResponse> {
    await runHooks(hooks.list("request:start"), { request, requestId: "test", route, params });
    const exchange: HttpExchange = { request, headers: {}, signal: new AbortController().signal, isExpired: false };
    const current = scope(route.early ? ANONYMOUS : await principal(request), exchange);
    const context: RouteContext = {
      route,
      request,
      requestId: current.requestId,
      params,
      search: init.search ?? "",
      root: "/api",
      scope: current,
      body: async () => init.body,
    };
    const respond = async (inner: OperationScope): Promise<KernelResponse> => {
      if (route.rules !== undefined) await authorizeRoute(route, route.rules, inner);
      const result = await route.handler({ ...context, scope: inner });
      const reply = result instanceof Reply ? result : new Reply(result === undefined ? 204 : 200, result);
      const shown = await presentSettled(reply.body, inner, true);
      return toResponse(new Reply(reply.status, shown, { ...exchange.headers, ...reply.headers }));
    };
    const around: RouteCall = { ...context, respond };
    await runHooks(hooks.list("route:around"), around);
    return around.respond(current);
  }

  async function authorizeRoute(route: Route, rules: readonly string[], current: OperationScope): Promise<void> {
    const { kind } = current.principal;
    const payload = { route, rules, scope: current, allowed: false };
    const deciders = hooks.list("route:authorize");
    if (deciders.length > 0) await runHooks(deciders, payload);
    else decideByDefault(payload);
    if (!payload.allowed) throw kind === "anonymous" ? new AuthenticationError() : new AuthorizationError();
  }

  return call;
}

/** Stands in for a plugin that decides about rules of routes. */
export function decideByDefault(payload: RouteAuthorization): void {
  const { kind, isAdmin } = payload.scope.principal;
  payload.allowed = payload.rules.some(
    (rule) => rule === "everyone" || isAdmin || (rule === "authenticated" && kind === "user"),
  );
}

function toResponse({ status, headers, body }: Reply): KernelResponse {
  return { status, headers: { ...headers }, body: body === undefined ? null : JSON.stringify(body) };
}
