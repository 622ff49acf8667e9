import type { IncomingMessage } from "node:http";
import { originForm } from "../node/node-host.ts";
import { pathOf, placeOf, type WebView } from "../web/web-host.ts";

/** What the adapter uses of Hono's context. */
export interface HonoContext {
  readonly req: {
    readonly raw: Request;
    /** Path that the handler is registered under; what Hono has in its place would have to be imported from there. */
    readonly routePath: string;
    /** The body, also when it was read before through another method of this object. */
    arrayBuffer(): Promise<ArrayBuffer>;
  };
  /** On node:http, @hono/node-server leaves node's own request here. */
  readonly env: unknown;
}

/** Where a request goes, as it was sent where the host tells. */
export function viewOf(context: HonoContext): Pick<WebView, "url" | "base"> {
  const target = sentTarget(context);
  return placeOf(mountPath(context.req.routePath, target), target);
}

/** The other end of the connection, where @hono/node-server leaves node's own request. */
export function addressOf({ env }: Pick<HonoContext, "env">): string | undefined {
  return (env as { incoming?: Partial<IncomingMessage> } | undefined)?.incoming?.socket?.remoteAddress;
}

/**
 * The target as it was sent: `new URL` has resolved the dots in the URL of a Request. Middleware may have put another
 * Request in the place of the one that came, whose URL then counts.
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
