import type { IncomingMessage } from "node:http";
import { type HandlingApp, originForm } from "../node/node-host.ts";
import { answerWebRequest, pathOf, placeOf, WebRequest, type WebView } from "../web/web-host.ts";

/** Options of `honoAdapter`. */
export interface HonoAdapterOptions<TContext = HonoContext> {
  /** Who calls, from Hono's context; wins over the app's `getUser`. @default the app's */
  readonly getUser?: ((context: TContext) => unknown) | undefined;
  /**
   * Address of the other end of the connection, such as `(context) => getConnInfo(context).remote.address` of the
   * package for your host. Do not use a header that any client can send.
   * @default that of the socket on @hono/node-server; unknown on other hosts
   */
  readonly getAddress?: ((context: TContext) => string | undefined) | undefined;
}

/** A handler for `app.use`, `app.all` and `app.on`; structural, so that Hono needs not be installed. */
export type HonoHandler = (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined>;

/**
 * Turns an app into a Hono handler. Registered under a path, that path takes the place of the API prefix; without one,
 * requests outside the API go on to the next handler. `app.route` takes it, too: Hono's class has private members, so
 * its type has to be given as `TApp`.
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
  // `app.route` needs nothing but the list of routes.
  const routes = [{ method: "ALL", path: "/*", basePath: "/", handler }];
  return Object.assign(handler, { routes }) as HonoHandler as HonoHandler & TApp;
}

/** What the adapter uses of Hono's context. */
interface HonoContext {
  readonly req: {
    readonly raw: Request;
    /** Path that the handler is registered under; Hono's own function for it would have to be imported. */
    readonly routePath: string;
    /** The body, also when it was read before through another method of this object. */
    arrayBuffer(): Promise<ArrayBuffer>;
  };
  /** On node:http, @hono/node-server leaves node's own request here. */
  readonly env: unknown;
}

/** The target of a request; as it was sent, where the host reports that. */
function viewOf(context: HonoContext): Pick<WebView, "url" | "base"> {
  const target = sentTarget(context);
  return placeOf(mountPath(context.req.routePath, target), target);
}

/** The other end of the connection, where @hono/node-server leaves node's own request. */
function addressOf({ env }: Pick<HonoContext, "env">): string | undefined {
  return (env as { incoming?: Partial<IncomingMessage> } | undefined)?.incoming?.socket?.remoteAddress;
}

/**
 * The target as it was sent: `new URL` has resolved the dots in the URL of a Request. Middleware may have replaced the
 * Request; then the URL of the new one counts.
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
 * The path before the `/*` that an adapter is registered under, as it was sent: parameters and wildcards in it stand for a
 * segment each, and what is escaped in a target is registered without.
 */
function mountPath(routePath: string, target: string): string {
  if (!routePath.endsWith("*")) return "";
  const pattern = routePath.replace(/\/?\*$/, "");
  if (/^[\w/.~-]*$/.test(pattern)) return pattern;
  const depth = pattern.split("/").length;
  return (target.split(/[?#]/, 1)[0] as string).split("/").slice(0, depth).join("/");
}
