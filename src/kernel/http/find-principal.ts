import { isKeelsonError } from "../../entity/base/keelson-error.ts";
import { isPromiseLike, withDeadline } from "../async/promises.ts";
import { AuthenticationError, AuthorizationError, UnavailableError } from "../errors/errors.ts";
import { describeError, type Logger } from "../log/logger.ts";
import type { Limits } from "../request/limits.ts";
import type { KernelRequest, RequestInfo } from "../request/messages.ts";
import { ANONYMOUS, type Principal, SYSTEM, type User } from "../request/scope.ts";

/** The options for identifying callers. */
export interface IdentityOptions {
  readonly getUser: ((request: RequestInfo) => unknown) | undefined;
  readonly isAdmin: (user: User) => boolean;
  readonly limits: Limits;
  readonly log: Logger;
}

/**
 * Identifies the caller. A failing callback leads to 503, never to an anonymous caller; a user without a valid id leads
 * to 401.
 * @throws UnavailableError, AuthenticationError, or a Keelson error of the callback with status 401, 403, 429 or 503
 */
export async function findPrincipal(request: KernelRequest, options: IdentityOptions): Promise<Principal> {
  const { getUser, limits, log } = options;
  if (request.getUser === undefined && getUser === undefined) return ANONYMOUS;
  let found: unknown;
  try {
    found =
      request.getUser === undefined
        ? getUser?.(new RequestView(request))
        : (request.getUser as (raw: unknown) => unknown)(request.raw);
    if (isPromiseLike(found)) found = await withDeadline(found, limits.hookMs, "getUser");
  } catch (error) {
    // These statuses concern the caller or a temporary state. Others, such as a 404 of a look-up in the callback, do
    // not.
    if (isKeelsonError(error) && [401, 403, 429, 503].includes(error.status)) throw error;
    log.error("getUser failed", describeError(error));
    throw new UnavailableError("Callers cannot be recognised at the moment");
  }
  return found === null || found === undefined ? ANONYMOUS : toPrincipal(found, options);
}

/**
 * Makes a principal from a user.
 * @throws AuthenticationError when the id is not a non-empty string; other values must never reach a `where`
 */
export function toPrincipal(user: unknown, { isAdmin, limits, log }: Omit<IdentityOptions, "getUser">): Principal {
  const id = typeof user === "object" && user !== null ? (user as { id?: unknown }).id : undefined;
  if (!isUserId(id, limits)) {
    log.warn("getUser returned a user whose id is not a non-empty string; the request is refused", {
      idType: typeof id,
    });
    throw new AuthenticationError("The caller's identity is not valid");
  }
  let admin = false;
  try {
    const answer: unknown = isAdmin(user as User);
    if (isPromiseLike(answer)) {
      answer.then(undefined, () => {}); // an unhandled rejection would end the process
      log.error("isAdmin must be synchronous; the caller is not treated as an admin");
    }
    admin = answer === true;
  } catch (error) {
    log.error("isAdmin failed; the caller is not treated as an admin", describeError(error));
  }
  return { kind: "user", user: user as User, isAdmin: admin };
}

/**
 * The principal for `runAs`: the user, an anonymous caller for null, or the system.
 * @throws AuthenticationError as `toPrincipal` does
 */
export function principalOf(who: User | null | "system", identity: Omit<IdentityOptions, "getUser">): Principal {
  if (who === "system") return SYSTEM;
  return who === null ? ANONYMOUS : toPrincipal(who, identity);
}

/** Whether a value is a valid user id: a non-empty, well-formed string of limited length. */
export function isUserId(id: unknown, { idLength }: Pick<Limits, "idLength">): id is string {
  return typeof id === "string" && id !== "" && id.length <= idLength && id.isWellFormed() && !id.includes("\u0000");
}

/** The default `isAdmin`: `role` is "admin", `isAdmin` is true, or `roles` contains "admin". */
export function defaultIsAdmin(user: User): boolean {
  const { role, isAdmin, roles } = user as { role?: unknown; isAdmin?: unknown; roles?: unknown };
  return role === "admin" || isAdmin === true || (Array.isArray(roles) && roles.includes("admin"));
}

/**
 * The argument of `getUser`. A class, because each literal with a getter gets its own hidden class, which costs more
 * than the rest of finding a caller.
 */
class RequestView implements RequestInfo {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestInfo["headers"];
  readonly #request: KernelRequest;

  constructor(request: KernelRequest) {
    this.method = request.method;
    this.url = request.url;
    this.headers = {
      get(name) {
        const value = request.headers[name.toLowerCase()];
        return value === undefined ? null : typeof value === "string" ? value : value.join(", ");
      },
    };
    this.#request = request;
  }

  /** A getter, because creating the host's own request may be expensive, and few use it. */
  get raw(): unknown {
    return this.#request.raw;
  }
}

/** Origins whose pages may send requests that change data; "all" disables the check. */
export type TrustedOrigins = readonly string[] | "all";

const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/**
 * Content types that a form can send without a preflight request (Fetch standard, "CORS-safelisted request-header").
 */
const FORM_TYPE = /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(?:;|$)/i;
const BEARER = /^\s*bearer\s/i;

/**
 * Refuses requests that a page of another site may have sent with the caller's cookies (OWASP, Cross-Site Request
 * Forgery Prevention: Fetch Metadata). A bearer token proves that the page was allowed to send the request: browsers do
 * not add one automatically, and send a preflight request before sending one to another origin.
 * @throws AuthorizationError
 */
export function refuseForged({ method, headers }: KernelRequest, trusted: TrustedOrigins): void {
  if (SAFE.has(method)) return;
  const site = headers["sec-fetch-site"];
  if (site === "same-origin" || trusted === "all") return;
  const isForeign = site === "cross-site";
  // Without the header, the client is an old browser, a page without TLS, or not a browser.
  if (!isForeign && !(FORM_TYPE.test(text(headers["content-type"])) && isOfBrowser(headers))) return;
  if (BEARER.test(text(headers.authorization)) || trusted.includes(text(headers.origin))) return;
  throw new AuthorizationError(
    isForeign
      ? "Requests of other sites are refused; the app can allow their origin with `trustedOrigins`"
      : "Forms are refused; send JSON, or allow the origin with `trustedOrigins`",
  );
}

function isOfBrowser(headers: KernelRequest["headers"]): boolean {
  return ["sec-fetch-site", "origin", "cookie"].some((name) => headers[name] !== undefined);
}

function text(value: string | readonly string[] | undefined): string {
  return typeof value === "string" ? value : (value?.[0] ?? "");
}
