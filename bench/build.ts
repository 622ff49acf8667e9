import { fileURLToPath } from "node:url";
import { build } from "tsup";

/** Where compiled files go; not under version control. */
export const outputFolder = fileURLToPath(new URL("../.cache/bench/", import.meta.url));

/**
 * Compiles what runs in processes of its own. Measured code has to be what a user deploys: a loader that transpiles on the
 * fly also wraps each named closure (esbuild's `keepNames`), which would slow down the contenders whose source is here
 * and not those that come from `node_modules`.
 */
export async function buildServers(contenders: readonly string[]): Promise<void> {
  const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
  await build({
    entry: {
      ...Object.fromEntries(contenders.map((id) => [`contender-${id}`, here(`contenders/${id}.ts`)])),
      probe: here("probe.ts"),
      load: here("load.ts"),
    },
    outDir: outputFolder,
    outExtension: () => ({ js: ".mjs" }),
    format: "esm",
    target: "node20",
    platform: "node",
    skipNodeModulesBundle: true,
    splitting: true,
    clean: true,
    config: false,
    dts: false,
    silent: true,
  });
}
