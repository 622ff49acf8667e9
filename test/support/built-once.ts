import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { repositoryRoot, type SourceFile } from "./source-files.ts";

/** Below node_modules, so that built files resolve this repository's packages. */
const CACHE = join(repositoryRoot, "node_modules/.cache/keelson-test");

/**
 * The folder of a build: built by the first caller, once for each state of the sources.
 * @param make Builds into an empty folder
 */
export async function builtOnce(
  name: string,
  sources: readonly SourceFile[],
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const hash = createHash("sha256");
  for (const { path, text } of sources) hash.update(`${path}\0${text}\0`);
  const folder = join(CACHE, `${name}-${hash.digest("hex").slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  // Built in a temporary folder and then moved, so that other processes never see a partial build.
  const draft = await mkdtemp(join(CACHE, "draft-"));
  await make(draft);
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }));
  return folder;
}
