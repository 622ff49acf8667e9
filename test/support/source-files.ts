import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of package.json, without a trailing separator. */
export const repositoryRoot = fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, "");

const ignored = new Set([
  ".git",
  ...readFileSync(join(repositoryRoot, ".gitignore"), "utf8")
    .split("\n")
    .filter((line) => line.endsWith("/"))
    .map((line) => line.slice(0, -1)),
]);

export interface SourceFile {
  /** Relative to the repository, with `/` on every platform. */
  readonly path: string;
  readonly text: string;
}

/**
 * Every file below `folder` (relative to the repository, `""` for all of it), in a fixed order; empty if the folder does
 * not exist. Folders that .gitignore lists are left out.
 *
 * @param accept Selects files by path. Only selected files are read.
 */
export function sourceFiles(folder: string, accept: (path: string) => boolean = () => true): SourceFile[] {
  return walk(join(repositoryRoot, folder))
    .map((file) => ({ file, path: relative(repositoryRoot, file).split(sep).join("/") }))
    .filter(({ path }) => accept(path))
    .map(({ file, path }) => ({ path, text: readFileSync(file, "utf8") }));
}

/** Names of the folders directly below `folder`; empty if it does not exist. */
export function foldersIn(folder: string): string[] {
  return entriesOf(join(repositoryRoot, folder))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function walk(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return isIgnored(entry.name, path) ? [] : walk(path);
    return entry.isFile() ? [path] : [];
  });
}

/** A line of .gitignore names a folder anywhere, or one by its path. */
function isIgnored(name: string, path: string): boolean {
  return ignored.has(name) || ignored.has(relative(repositoryRoot, path).split(sep).join("/"));
}
