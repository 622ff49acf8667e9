import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { expect } from "vitest";
import { repositoryRoot } from "./source-files.ts";

interface CompileOptions {
  /** Whether to check all files of this repository as well. @default false: problems of imported files are left out */
  readonly withRepository?: boolean;
}

/**
 * One checker at a time: they share most of their input, and both cores run other tests. The Go compiler takes a third of
 * the time; `npm run check` uses the JavaScript compiler.
 */
const COMPILER = join(repositoryRoot, "node_modules/typescript-7/bin/tsc");

/** What the compiler found for this test file: it checks only what has changed since, and what imports that. */
function foundFor({ testPath = "" }: { readonly testPath?: string | undefined }): string {
  const name = relative(repositoryRoot, testPath).replaceAll(/\W+/g, "-");
  return join(repositoryRoot, `.cache/${name}.tsbuildinfo`);
}

const { include, exclude } = ts.readConfigFile(join(repositoryRoot, "tsconfig.json"), ts.sys.readFile).config;
const fromCache = (paths: readonly string[]): readonly string[] => paths.map((path) => `../../${path}`);
let projects = 0;

/** The compiler's errors for these files, one per line, with this repository's settings. */
export function compileProblems(files: readonly string[], { withRepository = false }: CompileOptions = {}): string[] {
  const folder = join(repositoryRoot, `.cache/compile-${process.pid}-${projects++}`);
  mkdirSync(folder, { recursive: true });
  try {
    const settings = { extends: "../../tsconfig.json", compilerOptions: { noEmit: true }, files };
    const included = withRepository ? { include: fromCache(include), exclude: fromCache(exclude) } : { include: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ ...settings, ...included }));
    const kept = ["--incremental", "--tsBuildInfoFile", foundFor(expect.getState())];
    const run = spawnSync(process.execPath, [COMPILER, "--pretty", "false", "--checkers", "1", ...kept, "-p", folder], {
      cwd: repositoryRoot,
      encoding: "utf8",
      maxBuffer: 64_000_000,
      // The program ends soon: collecting its garbage costs more than the memory is worth.
      env: { ...process.env, GOGC: "400" },
    });
    const judged = new Set(files.map((file) => relative(repositoryRoot, file)));
    return (run.stdout + run.stderr).split("\n").filter((line) => {
      const file = /^([^(\s][^(]*)\(\d+,\d+\): /.exec(line)?.[1];
      return file === undefined ? line.startsWith("error") : withRepository || judged.has(file);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
