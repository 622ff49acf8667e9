import type { IncomingMessage } from "node:http";
import { type HandlingApp, originForm } from "../node/node-host.ts";
import { answerWebRequest, pathOf, placeOf, WebRequest, type WebView } from "../web/web-host.ts";

/** Options of `honoAdapter`. */
export interface HonoAdapterOptions<TContext = HonoContext> {
  /** Identifies the caller from Hono's context; takes precedence over the app's `getUser`. @default the app's */
  readonly getUser?: ((context: TContext) => unknown) | undefined;
  /**
   * Returns the remote address of the connection, such as `(context) => getConnInfo(context).remote.address` of the
   * package for your host. Do not use a header that any client can send.
   * @default the socket's address on @hono/node-server; unknown on other hosts
   */
  readonly getAddress?: ((context: TContext) => string | undefined) | undefined;
}

/** A handler for `app.use`, `app.all` and `app.on`; structural, so that Hono does not have to be installed. */
export type HonoHandler = (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined>;

/**
 * Makes a Hono handler from an app. If it is registered under a path, the path replaces the API prefix; otherwise
 * requests outside the API are passed to the next handler. It also works with `app.route`: Hono's class has private
 * members, so pass its type as `TApp`.
 * @param api the app
 * @example app.use(honoAdapter(api)); // or app.all("/api/*", honoAdapter(api)), app.route("/", honoAdapter<Hono>(api))
 */
export function honoAdapter<TApp = unknown, TContext = HonoContext>(
  api: HandlingApp,
  { getUser, getAddress }: HonoAdapterOptions<TContext> = {},
): HonoHandler & TApp {
  const handler: HonoHandler = async (context, next) => {
    const { req } = context;
    const { url, base } = viewOf(context);
    if (!(api.owns?.(url, base) ?? true)) {
      await next();
      return undefined;
    }
    const kept = () => req.arrayBuffer();
    const address = () => (getAddress === undefined ? addressOf(context) : getAddress(context as TContext));
    return answerWebRequest(
      api,
      new WebRequest(req.raw, { adapter: "honoAdapter", url, base, raw: context, address, kept, getUser }),
    );
  };
  // `app.route` needs only the list of routes.
  const routes = [{ method: "ALL", path: "/*", basePath: "/", handler }];
  return Object.assign(handler, { routes }) as HonoHandler as HonoHandler & TApp;
}

/** The part of Hono's context that the adapter uses. */
interface HonoContext {
  readonly req: {
    readonly raw: Request;
    /** The path that the handler is registered under; Hono's own function for it would have to be imported. */
    readonly routePath: string;
    /** Reads the body, even if it was read before through another method of this object. */
    arrayBuffer(): Promise<ArrayBuffer>;
  };
  /** On node:http, @hono/node-server stores node's own request here. */
  readonly env: unknown;
}

/** The target of a request, unchanged if the host reports the original. */
function viewOf(context: HonoContext): Pick<WebView, "url" | "base"> {
  const target = sentTarget(context);
  return placeOf(mountPath(context.req.routePath, target), target);
}

/** The remote address, from node's own request on @hono/node-server. */
function addressOf({ env }: Pick<HonoContext, "env">): string | undefined {
  return (env as { incoming?: Partial<IncomingMessage> } | undefined)?.incoming?.socket?.remoteAddress;
}

/**
 * The original target, because `new URL` has resolved the dots in the URL of a Request. If middleware has replaced the
 * Request, its URL is used.
 */
function sentTarget({ req, env }: HonoContext): string {
  const { url } = req.raw;
  const seen = pathOf(url);
  const incoming = (env as { incoming?: Partial<IncomingMessage> } | undefined)?.incoming;
  if (typeof incoming?.url !== "string") return seen;
  const sent = originForm(incoming.url);
  if (sent === seen) return seen;
  const resolved = `http://host${sent}`;
  return URL.canParse(resolved) && pathOf(new URL(resolved).href) === seen ? sent : seen;
}

/**
 * The path before the `/*` that an adapter is registered under, as in the request: parameters and wildcards in it match
 * one segment each, and escaped characters of a target are registered unescaped.
 */
function mountPath(routePath: string, target: string): string {
  if (!routePath.endsWith("*")) return "";
  const pattern = routePath.replace(/\/?\*$/, "");
  if (/^[\w/.~-]*$/.test(pattern)) return pattern;
  const depth = pattern.split("/").length;
  return (target.split(/[?#]/, 1)[0] as string).split("/").slice(0, depth).join("/");
}
