import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import Negotiator from "negotiator";
import type { PluginContext, RouteContext } from "../../gate/index.ts";
import { EntityNotFoundError, escapeHtml, Reply } from "../../kernel/index.ts";
import { START_SCRIPT } from "./start-script.ts";

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

/** The files of Swagger UI that the page loads, with their types. No other files are read. */
const SWAGGER_UI: ReadonlyMap<string, string> = new Map([
  ["swagger-ui.css", STYLE],
  ["swagger-ui-bundle.js", SCRIPT],
]);

/** A file. `etag` is a digest of its content. */
interface Asset {
  readonly zipped: Uint8Array;
  /** Uncompressed; created when a client first needs it. */
  plain?: Uint8Array;
  readonly etag: string;
}

const read = new Map<string, Asset>();

/** Reads one of the files, once. */
function readAsset(name: string): Asset {
  const known = read.get(name);
  if (known !== undefined) return known;
  const zipped = readZipped(name);
  const asset: Asset = { zipped, etag: createHash("sha256").update(zipped).digest("base64url") };
  read.set(name, asset);
  return asset;
}

/** The build puts the files next to the code. An app that runs from source reads them from the package. */
function readZipped(name: string): Uint8Array {
  const beside = fileURLToPath(new URL(`./assets/swagger-ui/${name}.gz`, import.meta.url));
  if (existsSync(beside)) return readFileSync(beside);
  const folder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
  return gzipSync(readFileSync(join(folder, name)));
}

/** The page's content, and the paths of the page and the document. */
interface DocsPage {
  readonly title: string;
  readonly path: string;
  readonly document: string;
}

/** The page as HTML. Its addresses are relative, because an app may be mounted below an unknown path. */
function docsPage({ title, path, document }: DocsPage): string {
  const folder = path.split("/").at(-1) as string;
  const root = "../".repeat(path.split("/").length - 2);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeHtml(title)}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${folder}/swagger-ui.css">
    <link rel="stylesheet" href="${folder}/page.css">
  </head>
  <body>
    <div id="swagger-ui" data-document="${escapeHtml(root + document.slice(1))}"></div>
    <noscript>This page needs JavaScript. The document itself does not: ${escapeHtml(document)}</noscript>
    <script src="${folder}/swagger-ui-bundle.js"></script>
    <script src="${folder}/start.js"></script>
  </body>
</html>
`;
}

/** Styles in addition to Swagger UI's: less empty space, and no web fonts. */
const PAGE_STYLE = `body { margin: 0; }
.swagger-ui .info { margin: 24px 0 8px; }
.swagger-ui .scheme-container { background: none; box-shadow: none; margin: 0; padding: 0; }
.swagger-ui .scheme-container .schemes > .schemes-server-container + .auth-wrapper { margin: 0; }
.swagger-ui .more-filters { margin: 0 20px 20px; }
.swagger-ui .info .title small { background: #5b6270; }
.swagger-ui .info .title small.version-stamp { background: #4a6800; }
.swagger-ui .opblock .opblock-summary-method { background: #47525f !important; }
.swagger-ui .opblock-get .opblock-summary-method { background: #1565b0 !important; }
.swagger-ui .opblock-post .opblock-summary-method { background: #17754b !important; }
.swagger-ui .opblock-put .opblock-summary-method { background: #96540a !important; }
.swagger-ui .opblock-patch .opblock-summary-method { background: #0d7567 !important; }
.swagger-ui .opblock-delete .opblock-summary-method { background: #c01818 !important; }
.swagger-ui .btn.authorize { border-color: #17754b; color: #17754b; }
.swagger-ui .btn.authorize svg { fill: #17754b; }
.swagger-ui .btn.execute { background: #1565b0 !important; border-color: #1565b0; }
.swagger-ui .btn.cancel { border-color: #c01818; color: #c01818; }
.swagger-ui .info a .url, .swagger-ui .info a { color: #1565b0; }
.swagger-ui .download-contents { background: #5b6270; }
.swagger-ui .parameter__in, .swagger-ui .parameter__deprecated { color: #5b6270; }
.swagger-ui .opblock .opblock-summary-method { color: #fff !important; }
.swagger-ui .response-col_links { display: none; }
@media (prefers-color-scheme: dark) {
  html { background: #1c2022; color-scheme: dark; }
  .swagger-ui .info a .url, .swagger-ui .info a { color: #8ab8f0; }
  .swagger-ui .header-col, .swagger-ui .more-filters, .swagger-ui .parameter__in { color: #d0d4d8 !important; }
  .swagger-ui .btn.authorize { border-color: #5fd0a0; color: #5fd0a0; }
  .swagger-ui .btn.authorize svg { fill: #5fd0a0; }
  .swagger-ui .btn.cancel { border-color: #ff9a9a; color: #ff9a9a; }
  .swagger-ui .btn.execute, .swagger-ui .download-contents { color: #fff !important; }
}
`;

/** Options of the page. */
export interface DocsOptions {
  readonly path: string;
  /** Path of the document. */
  readonly document: string;
  readonly rules: readonly string[];
  readonly title: string | undefined;
}

/**
 * The content security policy: the page only loads its own files and this API, has no inline code, and cannot be
 * framed, which prevents clickjacking.
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

/** Adds the page and a route for the files that it loads. All of them are served by this app. */
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

/** Sends a file. The library's files are large and only change with the package, so clients cache them. */
function sendFile({ params, request }: RouteContext): Reply {
  const file = params.file as string;
  if (file === "start.js") return new Reply(200, bytes(START_SCRIPT), { "content-type": SCRIPT });
  if (file === "page.css") return new Reply(200, bytes(PAGE_STYLE), { "content-type": STYLE });
  const type = SWAGGER_UI.get(file);
  if (type === undefined) throw new EntityNotFoundError();
  const asset = readAsset(file);
  const isZipped = takesGzip(request.headers["accept-encoding"]);
  const tag = `"${asset.etag}${isZipped ? "-gzip" : ""}"`;
  const headers = {
    "cache-control": "private, max-age=3600",
    vary: "Accept-Encoding, Authorization, Cookie",
    etag: tag,
  };
  if (request.headers["if-none-match"] === tag) return new Reply(304, undefined, headers);
  if (isZipped) return new Reply(200, asset.zipped, { ...headers, "content-encoding": "gzip", "content-type": type });
  asset.plain ??= gunzipSync(asset.zipped);
  return new Reply(200, asset.plain, { ...headers, "content-type": type });
}

/** Whether a client prefers gzip to the plain file (RFC 9110 section 12.5.3). */
function takesGzip(accepted: string | readonly string[] | undefined): boolean {
  const headers = { "accept-encoding": [accepted ?? []].flat().join() };
  return new Negotiator({ headers }).encodings(["gzip", "identity"])[0] === "gzip";
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
