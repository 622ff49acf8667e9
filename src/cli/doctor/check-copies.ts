import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { keelsonVersion } from "../package-root.ts";
import type { Project } from "../project/project.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Whether the command is of the same version as the library that the project uses. */
export async function checkCopies({ file }: Project): Promise<Diagnosis> {
  const own = keelsonVersion();
  // Beside `dist`, where the main entry is.
  const manifest = join(dirname(createRequire(file).resolve("keelson")), "../package.json");
  const { version } = JSON.parse(await readFile(manifest, "utf8")) as { readonly version: string };
  if (version === own) return { check: "Keelson", state: "good", found: version };
  return {
    check: "Keelson",
    state: "doubtful",
    found: `the project uses ${version}, this command is ${own}`,
    fix: "Run the project's own command: npx keelson",
  };
}
