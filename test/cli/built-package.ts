import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtOnce } from "../support/built-once.ts";
import { repositoryRoot, sourceFiles } from "../support/source-files.ts";
import { whenFileEnds } from "../support/when-file-ends.ts";

/**
 * The folder of the package as published, without declarations. Users run compiled commands, and so do these tests.
 */
export function builtPackage(): Promise<string> {
  const sources = [
    ...["src", "templates"].flatMap((folder) => sourceFiles(folder)),
    ...sourceFiles("", (path) => /^(package\.json|tsup\.config\.ts)$/.test(path)),
  ];
  return builtOnce("package", sources, async (draft) => {
    const tsup = join(repositoryRoot, "node_modules/tsup/dist/cli-default.js");
    const run = spawnSync(process.execPath, [tsup, "--no-dts", "--no-sourcemap", "--out-dir", join(draft, "dist")], {
      cwd: repositoryRoot,
      encoding: "utf8",
      timeout: 120_000,
    });
    if (run.status !== 0) throw new Error(`the package cannot be built: ${run.stdout}${run.stderr}`);
    await cp(join(repositoryRoot, "package.json"), join(draft, "package.json"));
    await cp(join(repositoryRoot, "templates"), join(draft, "templates"), { recursive: true });
    const paths = Object.fromEntries(
      Object.entries(exports).flatMap(([door, target]) =>
        typeof target === "string" ? [] : [[`keelson${door.slice(1)}`, [target.default]]],
      ),
    );
    const settings = { extends: join(repositoryRoot, "tsconfig.json"), compilerOptions: { paths } };
    await writeFile(join(draft, "tsconfig.json"), JSON.stringify(settings));
  });
}

const { exports } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
};

/**
 * Environment for scripts that tsx runs in a separate process: `keelson` is the built package there. Compiling all sources
 * would take each of them seconds.
 */
export async function builtKeelson(): Promise<Readonly<Record<string, string>>> {
  return { TSX_TSCONFIG_PATH: join(await builtPackage(), "tsconfig.json") };
}

let copy: Promise<string> | undefined;

/**
 * The built package, for commands that run in the process of the tests: a copy for each test file, because Node caches
 * modules, and named rules would stay defined for the next file.
 */
export function packageOfThisFile(): Promise<string> {
  copy ??= copyOf(builtPackage());
  return copy;
}

async function copyOf(built: Promise<string>): Promise<string> {
  const folder = await mkdtemp(`${await built}-`);
  whenFileEnds(() => {
    copy = undefined;
    return rm(folder, { recursive: true, force: true });
  });
  await cp(await built, folder, { recursive: true });
  return folder;
}
