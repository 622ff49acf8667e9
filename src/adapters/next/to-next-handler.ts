import { basePath, type HandlingApp } from "../node/node-host.ts";
import { answerWebRequest, pathOf, placeOf, WebRequest } from "../web/web-host.ts";

/** Options of `toNextHandler`. */
export interface NextHandlerOptions<TRequest extends Request = Request> {
  /** Identifies the caller from Next's own request; takes precedence over the app's `getUser`. @default the app's */
  readonly getUser?: ((request: TRequest) => unknown) | undefined;
  /**
   * Returns the client's address, as provided by your platform; Next does not provide it. Do not use a header that any
   * client can send.
   * @default unknown
   */
  readonly getAddress?: ((request: TRequest) => string | undefined) | undefined;
  /**
   * The path that the app is served under, as seen by clients. `""` keeps the app's own API prefix.
   * @default the path of the folder that `[...path]` is in, with Next's `basePath`
   */
  readonly base?: string | undefined;
}

/** A handler of a route file; structural, so that Next does not have to be installed. */
export type NextHandler = (
  request: Request,
  context: { readonly params: Promise<Readonly<Record<string, string | string[] | undefined>>> },
) => Promise<Response>;

/** The exports of a route file. */
export type NextHandlers = Readonly<Record<(typeof METHODS)[number], NextHandler>>;

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;

/**
 * Makes the handlers of a catch-all route from an app, for a file such as `app/api/[...path]/route.ts`. The folder's
 * path replaces the API prefix.
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
  const given = basePath(base) ?? "";
  const handler: NextHandler = async (request, { params }) => {
    const target = pathOf(request.url);
    const place = placeOf(base === undefined ? folderOf(target, await params) : given, target);
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
