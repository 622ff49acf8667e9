import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Options } from "tsup";
import { builtOnce } from "../test/support/built-once.ts";
import { sourceFiles } from "../test/support/source-files.ts";

const SOURCE = "src/plugins/studio";
/** In the order in which they hold. */
const STYLES = ["base", "frame", "lists", "records", "narrow"];
const root = fileURLToPath(new URL("..", import.meta.url));

/** Writes what the studio's page loads, with the licence of the library in it. Charts and imports are files of their own. */
async function buildStudio(folder: string): Promise<void> {
  await build({
    config: false,
    entry: { studio: join(root, SOURCE, "page/main.tsx") },
    outDir: folder,
    platform: "browser",
    format: ["esm"],
    target: "es2022",
    env: { NODE_ENV: "production" },
    minify: true,
    splitting: true,
    noExternal: [/./],
    silent: true,
    outExtension: () => ({ js: ".js" }),
    esbuildOptions(options) {
      options.chunkNames = "studio-[name]-[hash]";
    },
  });
  const styles = STYLES.map((name) => readFileSync(join(root, SOURCE, `page/styles/${name}.css`), "utf8"));
  writeFileSync(join(folder, "studio.css"), styles.join("\n"));
  copyFileSync(
    join(dirname(createRequire(import.meta.url).resolve("preact/package.json")), "LICENSE"),
    join(folder, "LICENSE-preact"),
  );
}

/** The folder with these files, built by the first that asks, for each state of the sources. */
export function builtStudio(): Promise<string> {
  return builtOnce("studio", sourceFiles(SOURCE), buildStudio);
}

/** Puts the studio's files beside the built code. */
export function studioFiles(): NonNullable<Options["esbuildPlugins"]>[number] {
  return {
    name: "studio-files",
    setup({ initialOptions, onEnd }) {
      const target = join(initialOptions.outdir ?? "dist", "assets/studio");
      onEnd(() => buildStudio(target));
    },
  };
}
