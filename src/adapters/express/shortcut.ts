import type { ServerResponse } from "node:http";
import { answer, type HandlingApp, originForm, pathBelow } from "../node/index.ts";
import type { ExpressHandler } from "./express-adapter.ts";
import type { ExpressRequest } from "./express-body.ts";

/** What an Express application shows to what is mounted on it. */
interface ExpressApp {
  handle(request: ExpressRequest, response: ServerResponse, done?: unknown): void;
  /** Prototype of the app's requests. */
  readonly request: object;
  /** express 4 */
  readonly _router?: Router;
  /** express 5; a getter that throws in express 4 */
  readonly router?: Router;
}

interface Router {
  readonly stack: readonly { readonly name: string }[];
}

/** Layers that express 4 puts first in every app. */
const BUILT_IN = new Set(["query", "expressInit"]);
const PLAIN_MOUNT = /^(?:\/[A-Za-z0-9_-]+)+$/;

/**
 * Express spends several times what node:http does on a request before the first middleware runs, on new prototypes
 * and its router. Where the adapter is the first middleware of an app, nothing of that is used, so it takes its
 * requests at the app's entry; whatever is not clearly its own goes the usual way.
 *
 * Express tells only mounted apps where they are mounted, by `emit("mount", app)`, and takes everything that has
 * `handle` and `set` for one.
 */
export function shortcut(
  api: HandlingApp,
  handler: ExpressHandler,
  getUser: ((request: never) => unknown) | undefined,
): ExpressHandler {
  function emit(this: { readonly mountpath?: unknown }, _event: "mount", app: ExpressApp): void {
    const { mountpath } = this;
    const first = (app._router ?? app.router)?.stack.filter(({ name }) => !BUILT_IN.has(name)).length === 1;
    if (!first || api.owns === undefined || typeof mountpath !== "string") return;
    const base = mountpath === "/" ? undefined : mountpath;
    if (base !== undefined && !PLAIN_MOUNT.test(base)) return;

    const usual = app.handle;
    app.handle = function handle(request, response, done) {
      const target = originForm(request.url);
      const url = base === undefined ? target : pathBelow(base, target);
      // `baseUrl` is there when the app is part of another one.
      if (request.baseUrl !== undefined || url === undefined || api.owns?.(url, base) !== true)
        return usual.call(this, request, response, done);
      const raw = () => asExpress(app, request, response, base, url);
      void answer(api, request, response, { url, base, raw, getUser });
    };
  }
  return Object.assign(handler, { handle: handler, set: true, emit });
}

/** Makes node's request Express's, for those who ask for it. */
function asExpress(
  app: ExpressApp,
  request: ExpressRequest,
  response: ServerResponse,
  baseUrl = "",
  url: string,
): ExpressRequest {
  if (request.baseUrl === undefined) {
    Object.setPrototypeOf(request, app.request);
    Object.assign(request, { res: response, originalUrl: request.url, baseUrl, url });
  }
  return request;
}
