import { EntityNotFoundError, type PluginContext, Reply, type RouteContext } from "../../../kernel/index.ts";
import { readAsset, SCRIPT, STYLE, SWAGGER_UI } from "./assets.ts";
import { docsPage } from "./docs-page.ts";
import { PAGE_STYLE } from "./page-style.ts";
import { START_SCRIPT } from "./start-script.ts";

/** Where a page is, and what it shows. */
export interface DocsOptions {
  readonly path: string;
  /** Path of the document. */
  readonly document: string;
  readonly rules: readonly string[];
  readonly title: string | undefined;
}

/**
 * What the page may load and do: its own files and this API, nothing written into the page, and nobody may show it in a
 * frame, where a click could be stolen.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Adds the page, and a route for the files that it loads: none of them comes from elsewhere. */
export function addDocsPage({ routes }: PluginContext, { path, document, rules, title = "API" }: DocsOptions): void {
  const hidden = { method: "GET", rules, describe: () => undefined };
  const page = docsPage({ title, path, document });
  const headers = { "content-type": "text/html; charset=utf-8", ...POLICY_HEADERS };
  routes.add({ ...hidden, path, action: "docs", handler: () => new Reply(200, bytes(page), headers) });
  routes.add({ ...hidden, path: `${path}/:file`, action: "docs-file", handler: sendFile });
}

const POLICY_HEADERS = Object.freeze({
  "content-security-policy": POLICY,
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
});

/** The library's files are large and change with the package only, so that whoever has them is not sent them again. */
function sendFile({ params, request }: RouteContext): Reply {
  const file = params.file as string;
  if (file === "start.js") return new Reply(200, bytes(START_SCRIPT), { "content-type": SCRIPT });
  if (file === "page.css") return new Reply(200, bytes(PAGE_STYLE), { "content-type": STYLE });
  const type = SWAGGER_UI.get(file);
  if (type === undefined) throw new EntityNotFoundError();
  const { body, etag } = readAsset(file);
  const headers = { "cache-control": "private, max-age=3600", etag };
  if (request.headers["if-none-match"] === etag) return new Reply(304, undefined, headers);
  return new Reply(200, body, { ...headers, "content-type": type });
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
