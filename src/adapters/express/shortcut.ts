import type { ServerResponse } from "node:http";
import { type HostView, originForm, pathBelow } from "../node/node-host.ts";
import type { ExpressHandler } from "./express-adapter.ts";
import { type ExpressRequest, expressBody } from "./express-body.ts";

/** Handles a request; returns false if it is not for the API. */
export type Take = (request: ExpressRequest, response: ServerResponse, view: HostView) => boolean;

/** The parts of an Express application that a mounted middleware can access. */
interface ExpressApp {
  handle(request: ExpressRequest, response: ServerResponse, done?: unknown): void;
  /** The prototype of the app's requests. */
  readonly request: object;
  /** express 4 */
  readonly _router?: { readonly stack: readonly { readonly name: string }[] };
  /** express 5; a getter that throws in express 4 */
  readonly router?: ExpressApp["_router"];
}

/** Layers that express 4 puts first in every app. */
const BUILT_IN = new Set(["query", "expressInit"]);
const PLAIN_MOUNT = /^\/$|^(?:\/[A-Za-z0-9_-]+)+$/;

/**
 * Before the first middleware, Express spends several times as much time on a request as node:http, on new prototypes
 * and its router. An adapter that is the first middleware of an app needs none of that, so it takes its requests at the
 * app's entry; all other requests are handled as usual (docs/adr/0009).
 *
 * Express reports the mount path to apps only, by `emit("mount", app)`, and treats every object with `handle` and `set`
 * as an app.
 */
export function withShortcut(handler: ExpressHandler, take: Take, getUser: HostView["getUser"]): ExpressHandler {
  function emit(this: { readonly mountpath?: unknown }, _event: "mount", app: ExpressApp): void {
    const { mountpath } = this;
    const first = (app._router ?? app.router)?.stack.filter(({ name }) => !BUILT_IN.has(name)).length === 1;
    if (!first || typeof mountpath !== "string" || !PLAIN_MOUNT.test(mountpath)) return;
    const baseUrl = mountpath === "/" ? "" : mountpath;
    const usual = app.handle;
    app.handle = function handle(request, response, done) {
      const url = pathBelow(baseUrl, originForm(request.url));
      const raw = () => asExpress(app, request, response, baseUrl, url);
      // A host other than Express may have read the body before calling the app.
      const body = () => expressBody(request);
      // `baseUrl` is set when the app is mounted in another one.
      const ours = request.baseUrl === undefined && url !== undefined;
      if (!ours || !take(request, response, { url, base: baseUrl || undefined, raw, body, getUser }))
        usual.call(this, request, response, done);
    };
  }
  return Object.assign(handler, { handle: handler, set: true, emit });
}

/** Adds the prototype and properties of an Express request to node's request, for handlers that need them. */
function asExpress(app: ExpressApp, request: ExpressRequest, res: ServerResponse, baseUrl: string, url = "/") {
  if (request.baseUrl !== undefined) return request;
  Object.setPrototypeOf(request, app.request);
  return Object.assign(request, { res, originalUrl: request.url, baseUrl, url });
}
