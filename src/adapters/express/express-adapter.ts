import type { ServerResponse } from "node:http";
import { answer, type HandlingApp, originForm, pathBelow } from "../node/node-host.ts";
import { type ExpressRequest, expressBody } from "./express-body.ts";
import { type Take, withShortcut } from "./shortcut.ts";

/** Options of `expressAdapter`. */
export interface ExpressAdapterOptions<TRequest = ExpressRequest> {
  /** Who calls, from Express's own request; wins over the app's `getUser`. @default the app's */
  readonly getUser?: ((request: TRequest) => unknown) | undefined;
  /**
   * Accepted for configurations that are shared with other adapters, and without effect: the adapter reads no
   * `X-Forwarded-*` header. Express's own "trust proxy" setting decides what `request.ip` is in `getUser`.
   * @default false
   */
  readonly trustProxy?: boolean | undefined;
  /**
   * Whether an adapter that is the first middleware handles its requests before Express works on them, which saves most
   * of their time. It replaces the app's `handle`; such responses have no `X-Powered-By`, and tools that wrap Express's
   * own layers do not see them.
   * @default false
   */
  readonly shortcut?: boolean | undefined;
}

/** A middleware for `app.use`; structural, so that express 4 and 5 both take it and neither needs to be installed. */
export type ExpressHandler = (request: ExpressRequest, response: ServerResponse, next: () => void) => void;

/**
 * Turns an app into an Express middleware. Mounted under a path, that path takes the place of the API prefix; mounted
 * without one, requests outside the API go on to the next middleware. Works before and after body parsers.
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

/** The path below the mount path, as it was sent: express 4 removes one slash too many from `/v1//films`. */
function urlOf(request: ExpressRequest, base: string | undefined): string {
  const url = originForm(request.url);
  const sent = base && pathBelow(base, originForm(request.originalUrl));
  // Anything else was rewritten by another middleware, and counts.
  return sent?.endsWith(url) ? sent : url;
}
