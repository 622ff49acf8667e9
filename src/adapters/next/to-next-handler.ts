import { basePath, type HandlingApp } from "../node/node-host.ts";
import { answerWebRequest, pathOf, placeOf, WebRequest } from "../web/web-host.ts";

/** Options of `toNextHandler`. */
export interface NextHandlerOptions<TRequest extends Request = Request> {
  /** Who calls, from Next's own request; wins over the app's `getUser`. @default the app's */
  readonly getUser?: ((request: TRequest) => unknown) | undefined;
  /**
   * Address of the client that sends requests to Next, as your platform provides it; Next itself does not. Do not use a
   * header that any client can send.
   * @default unknown
   */
  readonly getAddress?: ((request: TRequest) => string | undefined) | undefined;
  /**
   * Path the app is served under, as clients see it. `""` leaves the app its own API prefix.
   * @default the path of the folder that `[...path]` is in, with Next's `basePath`
   */
  readonly base?: string | undefined;
}

/** A handler of a route file; structural, so that Next needs not be installed. */
export type NextHandler = (
  request: Request,
  context: { readonly params: Promise<Readonly<Record<string, string | string[] | undefined>>> },
) => Promise<Response>;

/** What a route file exports. */
export type NextHandlers = Readonly<Record<(typeof METHODS)[number], NextHandler>>;

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;

/**
 * Turns an app into the handlers of a catch-all route, such as `app/api/[...path]/route.ts`. The folder's path takes
 * the place of the API prefix.
 * @param api the app
 * @throws ConfigurationError when `base` is not a path
 * @example
 * export const { GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS } = toNextHandler(api);
 * export const dynamic = "force-dynamic";
 */
export function toNextHandler<TRequest extends Request = Request>(
  api: HandlingApp,
  { getUser, getAddress, base }: NextHandlerOptions<TRequest> = {},
): NextHandlers {
  const told = basePath(base) ?? "";
  const handler: NextHandler = async (request, { params }) => {
    const target = pathOf(request.url);
    const place = placeOf(base === undefined ? folderOf(target, await params) : told, target);
    const address = () => getAddress?.(request as TRequest);
    return answerWebRequest(
      api,
      new WebRequest(request, { adapter: "toNextHandler", ...place, raw: request, address, getUser }),
    );
  };
  return Object.freeze(Object.fromEntries(METHODS.map((method) => [method, handler]))) as NextHandlers;
}

/** The path before the catch-all parameter, which has one value per segment. */
function folderOf(target: string, params: Awaited<Parameters<NextHandler>[1]["params"]>): string {
  const depth = Object.values(params).find(Array.isArray)?.length ?? 0;
  let end = target.search(/[?#]|$/);
  for (let segment = 0; segment <= depth; segment++) {
    while (target[end - 1] === "/") end--;
    if (segment < depth) end = target.lastIndexOf("/", end - 1);
  }
  return target.slice(0, Math.max(end, 0));
}
