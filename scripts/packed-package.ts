/** What the trials of the packed package share: npm, and the package as it would be published. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository: string = fileURLToPath(new URL("..", import.meta.url));

/** What is packed: this package, or the folder that KEELSON_PACKAGE names. */
export const packageRoot: string = process.env.KEELSON_PACKAGE ?? repository;

const { NODE_ENV: _, ...rest } = process.env;
/** The environment of a user: without what a test runner sets. */
export const userEnv: NodeJS.ProcessEnv = rest as NodeJS.ProcessEnv;

/** @returns what npm prints */
export function npm(cwd: string, ...args: string[]): string {
  try {
    return execFileSync("npm", args, { cwd, env: userEnv, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  } catch (error) {
    console.error((error as { stdout?: string }).stdout ?? ""); // where compilers and test runners say what is wrong
    throw error;
  }
}

interface Packed {
  readonly tarball: string;
  readonly files: readonly string[];
}

/**
 * Packs the package of a folder into another one.
 * @throws Error if this package was not built
 */
export function pack(folder: string, destination: string): Packed {
  if (folder === packageRoot && !existsSync(join(folder, "dist/index.js")))
    throw new Error(`${folder} has no dist folder. Run "npm run build" first`);
  // What scripts print comes before the list.
  const printed = npm(folder, "pack", "--json", "--pack-destination", destination);
  const [packed] = JSON.parse(printed.slice(printed.search(/^\[/m))) as [
    { filename: string; files: readonly { path: string }[] },
  ];
  return { tarball: join(destination, packed.filename), files: packed.files.map(({ path }) => path) };
}
