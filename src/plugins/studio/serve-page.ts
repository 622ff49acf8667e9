import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EntityNotFoundError, escapeHtml, Reply } from "../../kernel/index.ts";
import type { LoginForm } from "./login.ts";

/** The data in the page's HTML. It reveals nothing about the app that anonymous callers may not see. */
export interface PageFacts {
  readonly title: string;
  /** Path of the page, from the root. */
  readonly path: string;
  /** Origin of the API, if it is another one. */
  readonly api: string | undefined;
  readonly login: LoginForm | undefined;
  readonly words: Readonly<Record<string, string>>;
}

/** The page as HTML. Its addresses are relative, because an app may be mounted below an unknown path. */
export function studioPage(facts: PageFacts): Reply {
  const folder = facts.path.split("/").at(-1) as string;
  const app = facts.api === undefined ? `${folder}/app.json` : `${facts.api}${facts.path}/app.json`;
  const given = JSON.stringify({ app, login: facts.login, words: facts.words });
  const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${escapeHtml(facts.title)}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${folder}/studio.css">
    <script type="module" src="${folder}/studio.js"></script>
  </head>
  <body>
    <div id="studio" data-given="${escapeHtml(given)}"></div>
    <noscript>This page needs JavaScript.</noscript>
  </body>
</html>
`;
  return new Reply(200, new TextEncoder().encode(html), {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-cache",
    "content-security-policy": policyOf(facts.api),
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
  });
}

/**
 * The content security policy: only the page's own files and the API, no inline code, and no frames, which prevents
 * clickjacking.
 */
function policyOf(api: string | undefined): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self'${api === undefined ? "" : ` ${api}`}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** A file that is served. */
interface Asset {
  readonly body: Uint8Array;
  readonly etag: string;
  readonly type: string;
}

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

/** Sends one of the page's files. Other files are not found; clients cache them by their tags. */
export async function sendAsset(file: string, known: string | readonly string[] | undefined): Promise<Reply> {
  const asset = (await readAssets()).get(file);
  if (asset === undefined) throw new EntityNotFoundError();
  const headers = { "cache-control": "no-cache", etag: asset.etag, "x-content-type-options": "nosniff" };
  if (known === asset.etag) return new Reply(304, undefined, headers);
  return new Reply(200, asset.body, { ...headers, "content-type": asset.type });
}

let assets: Promise<ReadonlyMap<string, Asset>> | undefined;

/** Reads all files on the first request. */
function readAssets(): Promise<ReadonlyMap<string, Asset>> {
  assets ??= readFolder();
  assets.catch(() => {
    assets = undefined;
  });
  return assets;
}

async function readFolder(): Promise<ReadonlyMap<string, Asset>> {
  const folder = await assetFolder();
  const found = new Map<string, Asset>();
  for (const name of readdirSync(folder)) {
    const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
    if (type === undefined) continue;
    const body = readFileSync(join(folder, name));
    found.set(name, { body, type, etag: `"${createHash("sha256").update(body).digest("base64url")}"` });
  }
  return found;
}

/** The build puts the files next to the code. An app that runs from this repository's sources builds them once. */
async function assetFolder(): Promise<string> {
  const beside = fileURLToPath(new URL("./assets/studio/", import.meta.url));
  if (existsSync(beside)) return beside;
  const builder = new URL("../../../scripts/studio-files.ts", import.meta.url).href;
  const { builtStudio } = (await import(builder)) as { builtStudio(): Promise<string> };
  return await builtStudio();
}
