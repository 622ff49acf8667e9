import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import { LOADED_IN_ORDER } from "../../scripts/loaded-in-order.ts";
import { builtOnce } from "./built-once.ts";
import { repositoryRoot, sourceFiles } from "./source-files.ts";

/**
 * The compiled file of a program that a test starts as a separate process (`*.child.ts`). All of them are compiled
 * together, once for each state of the sources: loading four hundred source files takes a process four times as long as
 * running one.
 */
export async function childProgram(script: URL): Promise<string> {
  const sources = [
    ...sourceFiles("src"),
    ...sourceFiles("bench/soak"),
    ...sourceFiles("test", (path) => !/\.test(-d)?\.ts$/.test(path)),
  ];
  const programs = sources.map(({ path }) => path).filter((path) => path.endsWith(".child.ts"));
  const folder = await builtOnce("programs", sources, async (draft) => {
    await build({
      config: false,
      entry: Object.fromEntries(programs.map((path) => [nameOf(path), join(repositoryRoot, path)])),
      outDir: draft,
      outExtension: () => ({ js: ".mjs" }),
      format: ["esm"],
      target: "node20",
      platform: "node",
      splitting: true,
      silent: true,
      keepNames: true,
      skipNodeModulesBundle: true,
      noExternal: [/^keelson/, LOADED_IN_ORDER],
    });
  });
  return join(folder, `${nameOf(fileURLToPath(script).slice(repositoryRoot.length + 1))}.mjs`);
}

const nameOf = (path: string): string => path.replaceAll(/[\\/]/g, "-").replace(/\.ts$/, "");
