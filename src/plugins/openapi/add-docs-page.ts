import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SUFFIXES } from "../../entity/index.ts";
import type { PluginContext, RouteContext } from "../../gate/index.ts";
import { EntityNotFoundError, escapeHtml, Reply } from "../../kernel/index.ts";

/**
 * Starts Swagger UI. The document depends on its reader, so it is loaded again with the reader's credentials after a
 * login on the page. Nothing of that is kept when the page is left, and no external validator is asked about the
 * document. A list has a parameter for each operator of each field, several hundred of them: the page shows the common
 * parameters and the fields first, and the others on request.
 */
const START_SCRIPT = `"use strict";
(() => {
  const place = document.getElementById("swagger-ui");
  const url = new URL(place.dataset.document, location.href).href;

  const credentials = () => {
    const headers = {};
    for (const { schema, value } of Object.values(ui.authSelectors.authorized().toJS())) {
      if (schema.type === "http" && schema.scheme.toLowerCase() === "bearer") headers.Authorization = "Bearer " + value;
      else if (schema.type === "http" && schema.scheme.toLowerCase() === "basic")
        headers.Authorization = "Basic " + btoa(value.username + ":" + value.password);
      else if (schema.type === "apiKey" && schema.in === "header") headers[schema.name] = value;
    }
    return headers;
  };

  const reloads = (original, system) => (payload) => {
    const result = original(payload);
    system.specActions.download(url);
    return result;
  };

  const SUFFIX = /_(${SUFFIXES.join("|")})$/;

  const sorted = (parameters) => {
    const names = new Set(parameters.map((parameter) => parameter.get("name")));
    const isOperator = (name) => name.includes(".") || (SUFFIX.test(name) && names.has(name.replace(SUFFIX, "")));
    const fields = new Set([...names].map(String).filter(isOperator).map((name) => name.replace(SUFFIX, "")));
    const rank = (parameter) => {
      const name = String(parameter.get("name"));
      return isOperator(name) ? 2 : fields.has(name) ? 1 : 0;
    };
    const order = parameters.sortBy(rank);
    return { order, first: order.filter((parameter) => rank(parameter) < 2) };
  };

  const foldsFilters = (Original, { React }) =>
    function Parameters(props) {
      const [isOpen, setOpen] = React.useState(false);
      const { order, first } = sorted(props.parameters);
      if (order.size - first.size < 20) return React.createElement(Original, props);
      const text = isOpen ? "Show fewer filters" : "Show " + (order.size - first.size) + " more filters";
      const toggle = { className: "btn more-filters", onClick: () => setOpen(!isOpen), type: "button" };
      return React.createElement(
        "div",
        null,
        React.createElement(Original, { ...props, parameters: isOpen ? order : first }),
        React.createElement("button", toggle, text),
      );
    };

  const ui = SwaggerUIBundle({
    url,
    domNode: place,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [
      () => ({ statePlugins: { auth: { wrapActions: { authorize: reloads, logout: reloads } } } }),
      () => ({ wrapComponents: { parameters: foldsFilters } }),
    ],
    requestInterceptor: (request) => {
      if (request.loadSpec && window.ui) Object.assign(request.headers, credentials());
      return request;
    },
  });
  window.ui = ui;
})();
`;

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

/** The files of Swagger UI that a page loads, with their types: nothing else is read. */
const SWAGGER_UI: ReadonlyMap<string, string> = new Map([
  ["swagger-ui.css", STYLE],
  ["swagger-ui-bundle.js", SCRIPT],
]);

/** A file as it is sent. */
interface Asset {
  readonly body: Uint8Array;
  readonly etag: string;
}

const read = new Map<string, Asset>();

/** One of the files, read when it is first asked for. */
function readAsset(name: string): Asset {
  const known = read.get(name);
  if (known !== undefined) return known;
  const body = readFileSync(join(folder(), name));
  const etag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  const asset = Object.freeze({ body, etag });
  read.set(name, asset);
  return asset;
}

/** The build puts them beside the code; who runs the sources has the package that they come from. */
function folder(): string {
  const beside = fileURLToPath(new URL("./assets/swagger-ui/", import.meta.url));
  return existsSync(beside) ? beside : dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
}

/** What a page shows, and where both are. */
interface DocsPage {
  readonly title: string;
  readonly path: string;
  readonly document: string;
}

/** The page as HTML. Its addresses are relative, because an app may be mounted under a path that it does not know. */
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
    <main id="swagger-ui" data-document="${escapeHtml(root + document.slice(1))}"></main>
    <noscript>This page needs JavaScript. The document itself does not: ${escapeHtml(document)}</noscript>
    <script src="${folder}/swagger-ui-bundle.js"></script>
    <script src="${folder}/start.js"></script>
  </body>
</html>
`;
}

/** What the page says about its looks on top of Swagger UI: less empty space, and nothing that needs a font. */
const PAGE_STYLE = `body { margin: 0; }
.swagger-ui .info { margin: 24px 0 8px; }
.swagger-ui .scheme-container { background: none; box-shadow: none; margin: 0; padding: 0; }
.swagger-ui .scheme-container .schemes > .schemes-server-container + .auth-wrapper { margin: 0; }
.swagger-ui .more-filters { margin: 0 20px 20px; }
`;

/** Where a page is, and what it shows. */
export interface DocsOptions {
  readonly path: string;
  /** Path of the document. */
  readonly document: string;
  readonly rules: readonly string[];
  readonly title: string | undefined;
}

/**
 * What the page may load and do: only its own files and this API, no inline code, and no frames, where a click could be
 * stolen.
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

/** Adds the page and a route for the files that it loads; all of them come from this app. */
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

/** The library's files are large and change with the package only, so a client that has them is not sent them again. */
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
