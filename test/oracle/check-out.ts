/** Checks out the sources of an earlier commit below this checkout, so that they resolve its packages. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

/** @returns path of that commit's library, in the form that `ORACLE_SOURCE` takes */
export function checkOut(commit: string): string {
  const id = execFileSync("git", ["rev-parse", "--short=12", `${commit}^{commit}`])
    .toString()
    .trim();
  const folder = fileURLToPath(new URL(`../../.cache/oracle-${id}/`, import.meta.url));
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true });
    const files = ["src", "tsconfig.json", "package.json"];
    const archive = execFileSync("git", ["archive", id, ...files], { maxBuffer: 256 * 1024 * 1024 });
    execFileSync("tar", ["-x", "-C", folder], { input: archive });
  }
  return pathToFileURL(`${folder}src/index.ts`).href;
}
