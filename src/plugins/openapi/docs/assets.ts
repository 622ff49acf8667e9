import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const SCRIPT = "text/javascript; charset=utf-8";
export const STYLE = "text/css; charset=utf-8";

/** The files of Swagger UI that a page loads, with their types: nothing else is read. */
export const SWAGGER_UI: ReadonlyMap<string, string> = new Map([
  ["swagger-ui.css", STYLE],
  ["swagger-ui-bundle.js", SCRIPT],
]);

/** A file as it is sent. */
export interface Asset {
  readonly body: Uint8Array;
  readonly etag: string;
}

const read = new Map<string, Asset>();

/** One of the files, read when it is first asked for. */
export function readAsset(name: string): Asset {
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
