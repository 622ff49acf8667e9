import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "./source-files.ts";

/** A documentation page whose TypeScript blocks are written to files; their imports resolve as in this repository. */
export interface Page {
  readonly text: string;
  /** One for each block, in order. */
  readonly files: readonly string[];
  /** The block's file, named by its first line, as in `// shop.ts`. */
  file(name: string): string;
  /** Runs one block: the block with this name, or the only block that contains this text. */
  load<T>(nameOrMarker: string): Promise<T>;
  /** Deletes the files. */
  remove(): void;
}

const BLOCK = /^```(tsx?)\n([\s\S]*?)^```/gm;
const NAME = /^\/\/ ([\w./[\]-]+\.tsx?)\b.*\n/;

/**
 * @param name of the page below `docs/`, without its extension; `"../README"` is the README
 * @param prefix of a folder that only this caller uses, the same in each run @default a new folder
 */
export function openPage(name: string, prefix?: string): Page {
  const text = readFileSync(join(repositoryRoot, "docs", `${name}.md`), "utf8");
  const folder = folderFor(name.replace(/\W+/g, "-"), prefix);
  const files = writeBlocks(text, folder);
  const blocks = files.map((file) => readFileSync(file, "utf8"));
  function file(wanted: string): string {
    const found = files.find((path) => path === join(folder, wanted));
    if (!found) throw new Error(`${name}.md has no block called ${wanted}`);
    return found;
  }
  return {
    text,
    files,
    file,
    async load<T>(nameOrMarker: string) {
      const named = files.includes(join(folder, nameOrMarker));
      const found = named ? [nameOrMarker] : files.filter((_, i) => blocks[i]?.includes(nameOrMarker));
      if (found.length !== 1) throw new Error(`${found.length} blocks of ${name}.md have "${nameOrMarker}"`);
      return (await import(pathToFileURL(named ? file(nameOrMarker) : (found[0] as string)).href)) as T;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** An empty folder for a page. */
function folderFor(page: string, prefix: string | undefined): string {
  const cache = join(repositoryRoot, ".cache");
  mkdirSync(cache, { recursive: true });
  if (prefix === undefined) return mkdtempSync(join(cache, `page-${page}-`));
  const folder = join(cache, `${prefix}-${page}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Writes blocks to files in a folder; a second block with the same name becomes `name-2.ts`. */
function writeBlocks(text: string, folder: string): string[] {
  const files: string[] = [];
  for (const [i, [, extension, block]] of [...text.matchAll(BLOCK)].entries()) {
    const named = NAME.exec(block as string)?.[1] ?? `block-${i}.${extension}`;
    let path = join(folder, named);
    for (let n = 2; files.includes(path); n++) path = join(folder, named.replace(/(?=\.tsx?$)/, `-${n}`));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, block as string);
    files.push(path);
  }
  return files;
}
