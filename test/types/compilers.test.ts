import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repositoryRoot } from "../support/source-files.ts";

// TypeScript 7 checks the same files in each run of the tests. `npm run package` checks the packed declarations with
// 5.9, 6 and 7.
it("the types of the public surface compile with TypeScript 6", () => {
  const compiler = join(repositoryRoot, "node_modules/typescript-6/bin/tsc");
  const project = join(repositoryRoot, "test/types/tsconfig.json");
  const run = (...args: string[]) => spawnSync(process.execPath, [compiler, ...args], { encoding: "utf8" });
  expect(run("--version").stdout).toContain("Version 6.");
  // The compiler keeps what it found, and checks only what has changed since.
  const found = join(repositoryRoot, ".cache/types-6.tsbuildinfo");
  const kept = ["--incremental", "--tsBuildInfoFile", found];
  expect(run("--pretty", "false", "--noEmit", ...kept, "-p", project).stdout).toBe("");
});
