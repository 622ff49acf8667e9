import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Where `npm run example:next` has its app, and what that consists of. */
const EXAMPLE = { folder: join(root, ".cache/next-app"), parts: ["examples/next-app", "examples/notes"] };

/**
 * Puts a Next app of the repository where it finds the package as a user's app does, in node_modules: Next bundles what
 * it finds anywhere else, and `serverExternalPackages` would mean nothing.
 * @param folder below the repository's, whose packages the app uses too
 * @param parts files and folders that are copied next to each other; one of them is the app, "next-app"
 * @returns the app's own folder
 */
export async function installNextApp(folder = EXAMPLE.folder, parts = EXAMPLE.parts): Promise<string> {
  const installed = join(folder, "node_modules/keelson");
  await rm(folder, { recursive: true, force: true });
  await mkdir(installed, { recursive: true });
  for (const part of parts) await cp(join(root, part), join(folder, basename(part)), { recursive: true });
  // Without it, the nearest package would be this repository's, and that finds itself under its own name.
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await cp(join(root, "package.json"), join(installed, "package.json"));
  await build({ outDir: join(installed, "dist"), dts: false, silent: true });
  return join(folder, "next-app");
}
