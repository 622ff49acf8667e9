import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { repositoryRoot, sourceFiles } from "../support/source-files.ts";

/** Below node_modules, so that what is built finds the packages of this repository. */
const CACHE = join(repositoryRoot, "node_modules/.cache/keelson-test");

/**
 * The folder of the package as it is published, without declarations: compiled once for each state of the sources.
 * Commands of users are compiled, and what runs here should be.
 */
export async function builtPackage(): Promise<string> {
  const inputs = ["src", "templates"].flatMap((folder) => sourceFiles(folder));
  const hash = createHash("sha256");
  for (const { path, text } of [
    ...inputs,
    ...sourceFiles("", (path) => /^(package\.json|tsup\.config\.ts)$/.test(path)),
  ])
    hash.update(`${path}\0${text}\0`);
  const folder = join(CACHE, `package-${hash.digest("hex").slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  // Made aside and moved, so that nobody sees half of it.
  const draft = await mkdtemp(join(CACHE, "draft-"));
  const tsup = join(repositoryRoot, "node_modules/tsup/dist/cli-default.js");
  const run = spawnSync(process.execPath, [tsup, "--no-dts", "--no-sourcemap", "--out-dir", join(draft, "dist")], {
    cwd: repositoryRoot,
    encoding: "utf8",
    timeout: 120_000,
  });
  if (run.status !== 0) throw new Error(`the package cannot be built: ${run.stdout}${run.stderr}`);
  await cp(join(repositoryRoot, "package.json"), join(draft, "package.json"));
  await cp(join(repositoryRoot, "templates"), join(draft, "templates"), { recursive: true });
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }));
  return folder;
}
