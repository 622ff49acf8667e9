import { copyFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Options } from "tsup";

const FILES = ["swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt", "swagger-ui.css", "LICENSE", "NOTICE"];

/** Puts what the documentation page loads, and what its licence asks for, beside the built code: no page asks a CDN. */
export function swaggerUiFiles(): NonNullable<Options["esbuildPlugins"]>[number] {
  return {
    name: "swagger-ui-files",
    setup(build) {
      const source = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
      const target = join(build.initialOptions.outdir ?? "dist", "assets/swagger-ui");
      build.onEnd(() => {
        mkdirSync(target, { recursive: true });
        for (const file of FILES) copyFileSync(join(source, file), join(target, file));
      });
    },
  };
}
