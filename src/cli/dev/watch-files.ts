import { type FSWatcher, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** Files that a server is made of. */
const SOURCE = /\.([cm]?[jt]sx?|json)$|^\.env$/;
/** Tests are not part of it, and what it writes itself would start it again for ever. */
const TEST = /\.(test|spec)\.[cm]?[jt]sx?$/;
const IGNORED = new Set(["node_modules", "dist", "coverage", "build"]);

/** Milliseconds in which changes count as one: editors write a file in several steps. */
const QUIET_MS = 80;

/**
 * Watches the sources below a folder. Folder by folder, because watching all at once would walk through node_modules too.
 * @returns a function that stops
 */
export async function watchFiles(root: string, onChange: (file: string) => void): Promise<() => void> {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function changed(folder: string, name: string | null): void {
    // A name that is no source may be a new folder.
    if (name !== null && !name.includes(".")) void add(join(folder, name));
    if (name === null || !SOURCE.test(name) || TEST.test(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => onChange(join(folder, name)), QUIET_MS);
  }

  async function add(folder: string): Promise<void> {
    if (watchers.has(folder) || isClosed) return;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined || watchers.has(folder) || isClosed) return;
    const watcher = watch(folder, (_event, name) => changed(folder, name));
    // The folder is gone.
    watcher.on("error", () => {
      watcher.close();
      watchers.delete(folder);
    });
    watchers.set(folder, watcher);
    const folders = entries.filter((entry) => entry.isDirectory() && !isIgnored(entry.name));
    await Promise.all(folders.map(({ name }) => add(join(folder, name))));
  }

  await add(root);
  return () => {
    isClosed = true;
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}

function isIgnored(name: string): boolean {
  return name.startsWith(".") || IGNORED.has(name);
}
