import { AuthorizationError } from "../errors/errors.ts";
import type { KernelRequest } from "../request/messages.ts";

/** Origins whose pages may send requests that change something; "all" turns the check off. */
export type TrustedOrigins = readonly string[] | "all";

const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/** What a form can send without asking the server first (Fetch standard, "CORS-safelisted request-header"). */
const FORM_TYPE = /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(?:;|$)/i;
const BEARER = /^\s*bearer\s/i;

/**
 * Refuses requests that a page of another site may have sent with the cookies of the caller (OWASP, Cross-Site Request
 * Forgery Prevention: Fetch Metadata). A bearer token shows that the page was allowed to send it: browsers add none by
 * themselves, and ask the server before they send one to another origin.
 * @throws AuthorizationError
 */
export function refuseForged({ method, headers }: KernelRequest, trusted: TrustedOrigins): void {
  if (SAFE.has(method)) return;
  const site = headers["sec-fetch-site"];
  if (site === "same-origin" || trusted === "all") return;
  const isForeign = site === "cross-site";
  // Without the header it is an old browser, a page without TLS, or no browser at all.
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
