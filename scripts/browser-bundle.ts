import { readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { build } from "tsup";

/**
 * A module with all it imports as one minified file, as bundlers make it for browsers.
 * @param folder where the file is written
 * @returns the code
 * @throws when something in it is for Node alone, which no browser resolves
 */
export async function bundleForBrowser(entry: string, folder: string): Promise<string> {
  await build({
    config: false,
    entry: [entry],
    outDir: folder,
    platform: "browser",
    format: ["esm"],
    target: "es2022",
    minify: true,
    splitting: false,
    noExternal: [/./],
    silent: true,
    outExtension: () => ({ js: ".js" }),
  });
  const name = basename(entry, extname(entry));
  const code = readFileSync(join(folder, `${name}.js`), "utf8");
  if (/["']node:|\brequire\(/.test(code)) throw new Error(`${name} needs modules of Node`);
  return code;
}
