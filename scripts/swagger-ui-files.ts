import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Options } from "tsup";

const LOADED = ["swagger-ui-bundle.js", "swagger-ui.css"];
const LICENCES = ["swagger-ui-bundle.js.LICENSE.txt", "LICENSE", "NOTICE"];

/**
 * Puts what the documentation page loads, compressed, and what its licence asks for, beside the built code: no page asks a
 * CDN.
 */
export function swaggerUiFiles(): NonNullable<Options["esbuildPlugins"]>[number] {
  return {
    name: "swagger-ui-files",
    setup(build) {
      const source = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
      const target = join(build.initialOptions.outdir ?? "dist", "assets/swagger-ui");
      build.onEnd(() => {
        mkdirSync(target, { recursive: true });
        for (const file of LICENCES) copyFileSync(join(source, file), join(target, file));
        for (const file of LOADED)
          writeFileSync(join(target, `${file}.gz`), gzipSync(readFileSync(join(source, file)), { level: 9 }));
      });
    },
  };
}
