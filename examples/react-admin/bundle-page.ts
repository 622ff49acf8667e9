import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";

const SOURCE = fileURLToPath(new URL("page/", import.meta.url));

/**
 * Writes the page as browsers load it: one script with all its imports, and the HTML. Any bundler works; this one is
 * already a dependency here.
 * @param folder where the files are written
 * @param main the script, called `main.tsx`
 */
export async function bundlePage(folder: string, main = join(SOURCE, "main.tsx")): Promise<void> {
  await mkdir(folder, { recursive: true });
  await copyFile(join(SOURCE, "index.html"), join(folder, "index.html"));
  await build({
    config: false,
    entry: [main],
    outDir: folder,
    platform: "browser",
    format: ["esm"],
    target: "es2022",
    env: { NODE_ENV: "production" },
    minify: true,
    splitting: false,
    noExternal: [/./],
    silent: true,
    outExtension: () => ({ js: ".js" }),
  });
}
