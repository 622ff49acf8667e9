import type { HandlingApp } from "../node/node-host.ts";
import { answerWebRequest, WebRequest } from "../web/web-host.ts";
import { addressOf, type HonoContext, viewOf } from "./hono-view.ts";

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
 * requests outside the API go on to the next handler. `app.route` takes it, too: Hono's class has private members, which
 * no type but itself can have, so TypeScript has to be told with `TApp`.
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
  // The list of its routes is all that `app.route` asks of an app.
  const routes = [{ method: "ALL", path: "/*", basePath: "/", handler }];
  return Object.assign(handler, { routes }) as HonoHandler as HonoHandler & TApp;
}
