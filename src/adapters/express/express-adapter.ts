import type { ServerResponse } from "node:http";
import { answer, type HandlingApp, originForm, pathBelow } from "../node/node-host.ts";
import { type ExpressRequest, expressBody } from "./express-body.ts";
import { type Take, withShortcut } from "./shortcut.ts";

/** Options of `expressAdapter`. */
export interface ExpressAdapterOptions<TRequest = ExpressRequest> {
  /** Identifies the caller from Express's own request; takes precedence over the app's `getUser`. @default the app's */
  readonly getUser?: ((request: TRequest) => unknown) | undefined;
  /**
   * Accepted for configurations that are shared with other adapters, but has no effect: the adapter reads no
   * `X-Forwarded-*` header. Express's own "trust proxy" setting determines `request.ip` in `getUser`.
   * @default false
   */
  readonly trustProxy?: boolean | undefined;
  /**
   * Whether an adapter that is the first middleware handles its requests before Express processes them, which saves
   * most of their time. It replaces the app's `handle`; the responses have no `X-Powered-By`, and tools that wrap
   * Express's own layers do not see them.
   * @default false
   */
  readonly shortcut?: boolean | undefined;
}

/** A middleware for `app.use`; structural, so that it works with express 4 and 5 and neither must be installed. */
export type ExpressHandler = (request: ExpressRequest, response: ServerResponse, next: () => void) => void;

/**
 * Makes an Express middleware from an app. If it is mounted under a path, the path replaces the API prefix; otherwise
 * requests outside the API are passed to the next middleware. Works before and after body parsers.
 * @param api the app
 * @example server.use(expressAdapter(api)); // or server.use("/v1", expressAdapter(api))
 */
export function expressAdapter<TRequest = ExpressRequest>(
  api: HandlingApp,
  { getUser, shortcut = false }: ExpressAdapterOptions<TRequest> = {},
): ExpressHandler {
  const take: Take = (request, response, view) => {
    const owned = api.owns?.(view.url, view.base) ?? true;
    if (owned) void answer(api, request, response, view);
    return owned;
  };
  const handler: ExpressHandler = (request, response, next) => {
    const base = request.baseUrl || undefined;
    const view = { base, url: urlOf(request, base), getUser, body: () => expressBody(request) };
    if (!take(request, response, view)) next();
  };
  return api.owns === undefined || !shortcut ? handler : withShortcut(handler, take, getUser);
}

/** The unchanged path below the mount path: express 4 removes one slash too many from `/v1//films`. */
function urlOf(request: ExpressRequest, base: string | undefined): string {
  const url = originForm(request.url);
  const sent = base && pathBelow(base, originForm(request.originalUrl));
  // Otherwise another middleware has rewritten it.
  return sent?.endsWith(url) ? sent : url;
}
