import { AsyncLocalStorage } from "node:async_hooks";
import {
  AuditLog,
  type Driver,
  isRead,
  type OperationScope,
  type PluginContext,
  type Route,
  type RouteContext,
  type RouteDescription,
  withMiddleware,
} from "../../gate/index.ts";
import {
  AuthorizationError,
  BadRequestError,
  EntityNotFoundError,
  type KernelResponse,
  Reply,
  type User,
  withDeadline,
} from "../../kernel/index.ts";
import { PRIVATE } from "./administration.ts";
import type { AppDocument } from "./app-document.ts";
import type { Place } from "./describe-app.ts";

/**
 * Returns the user with an id, as `getUser` would. Null if there is no such user, or if this administrator may not view
 * the app as that user.
 */
export type ViewAs = (id: string, viewer: User) => User | null | Promise<User | null>;

/** Set for work that must not write. */
const reading = new AsyncLocalStorage<true>();

/** A driver that refuses writes of requests that view the app as another user, including writes of rules and hooks. */
export function readingDriver(driver: Driver): Driver {
  return withMiddleware(
    driver,
    async (statement, next) => {
      if (reading.getStore() === true && !isRead(statement))
        throw new AuthorizationError("Nothing is changed while an administrator sees the app as another user");
      return next(statement);
    },
    { joins: true },
  );
}

/** Describes the app for a scope, with the paths for the page's requests. */
type Describe = (scope: OperationScope, place: Place) => Promise<AppDocument>;

/**
 * Adds `GET as/:user` below the studio's path, which describes the app as that user sees it, and `GET as/:user/:path+`,
 * which responds to a request to the API as it would to that user. For administrators that the studio's rules allow.
 * Each request is logged in the audit log before it runs.
 */
export function addViewRoutes(
  context: PluginContext,
  path: string,
  rules: readonly string[],
  viewAs: ViewAs,
  describe: Describe,
): void {
  const { routes, use, runAs } = context;

  async function view<T>(call: RouteContext, action: string, work: (scope: OperationScope) => Promise<T>): Promise<T> {
    const { scope, params } = call;
    const id = params.user as string;
    const user = await withDeadline(
      Promise.resolve(viewAs(id, scope.principal.user as User)),
      scope.app.limits.hookMs,
      "The studio's viewAs",
    );
    if (user === null || user === undefined || user.id !== id) throw new EntityNotFoundError("There is no such user");
    const entry = { operation: "view-as", action: action.slice(0, LONGEST_ACTION), entity: "user", recordId: id };
    await use(AuditLog).note(scope, entry);
    return await runAs(user, (as) => reading.run(true, () => work(as)));
  }

  const shared = { method: "GET", rules, transactional: false };
  routes.add({
    ...shared,
    path: `${path}/as/:user`,
    action: "view-as",
    describe: () => DOCUMENT,
    handler: (call: RouteContext) =>
      view(call, "GET /", async (scope) => {
        const base = call.request.base ?? "";
        const root = `${base}${path}/as/${encodeURIComponent(call.params.user as string)}`;
        return new Reply(200, await describe(scope, { root, base }), PRIVATE);
      }),
  });
  routes.add({
    ...shared,
    path: `${path}/as/:user/:path+`,
    action: "view-as-request",
    describe: () => REQUEST,
    handler: (call: RouteContext) => {
      const { request, root, params, search } = call;
      const below = `/${params.path}`;
      return view(call, `GET ${below}`, async (scope) => {
        const url = (request.base === undefined ? root : "") + escaped(below) + (search === "" ? "" : `?${search}`);
        // Without the administrator's credentials: the handler of the request only knows the other user.
        const { "x-forwarded-for": forwarded } = request.headers;
        const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
        const inner = {
          method: "GET",
          url,
          headers,
          base: request.base,
          address: request.address,
          signal: request.signal,
        };
        return shown(await call.dispatch(inner, scope, assertReads), scope);
      });
    },
  });
}

const LONGEST_ACTION = 200;

function escaped(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/").replaceAll("%3A", ":");
}

/** Plugins whose routes return the API's data, and run no code of the app except its rules and hooks. */
const READING: ReadonlySet<string> = new Set(["crud", "workflows"]);

/**
 * @throws AuthorizationError for other routes, because the code of an action may have effects outside of the database
 */
function assertReads({ method, plugin, action }: Route): void {
  if (method !== "GET" || !READING.has(plugin))
    throw new AuthorizationError(`"${action}" cannot be seen as another user: it may do more than read records`);
}

const SHOWN = ["content-type", "x-next-cursor", "x-total-count", "x-ignored-fields"];

/**
 * Converts the other user's response for the administrator.
 * @throws BadRequestError unless it is JSON of limited size
 */
function shown({ status, headers, body }: KernelResponse, { app }: OperationScope): Reply {
  const isJson = /^application\/json\b/.test(String(headers["content-type"] ?? ""));
  if (body !== null && !(isJson && (typeof body === "string" || body instanceof Uint8Array)))
    throw new BadRequestError("Only JSON can be seen as another user");
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : (body ?? undefined);
  if (bytes !== undefined && bytes.length > app.limits.answerBytes)
    throw new BadRequestError(`The answer would have more than ${app.limits.answerBytes} bytes; ask for less`);
  const kept = Object.entries(headers).filter(([name]) => SHOWN.includes(name));
  return new Reply(status, bytes, { ...Object.fromEntries(kept), ...PRIVATE });
}

const DOCUMENT: RouteDescription = {
  operationId: "describeAppAs",
  summary: "Describe the app to the studio, as another user sees it",
  answers: { 200: { description: "The description.", content: { "application/json": { type: "object" } } } },
  errors: [404],
};
const REQUEST: RouteDescription = {
  operationId: "readAs",
  summary: "Answer a reading request to the API as it would be answered to another user",
  answers: { 200: { description: "What that user would get.", content: { "application/json": {} } } },
  errors: ["4XX"],
};
