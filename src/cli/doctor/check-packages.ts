import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { packageManifest } from "../package-root.ts";
import type { Project } from "../project/project.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Packages that make and change tables, whatever the database. */
const TABLES = ["@prisma/driver-adapter-utils", "@prisma/get-dmmf", "@prisma/schema-engine-wasm"];
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  embedded: [...TABLES, "@prisma/adapter-libsql"],
  postgres: [...TABLES, "@prisma/adapter-pg"],
};

/** Whether the packages that the project's driver needs are there, in the one version that fits. */
export async function checkPackages({ config, file }: Project): Promise<Diagnosis> {
  const { peerDependencies } = packageManifest();
  const wrong: string[] = [];
  for (const name of PACKAGES[config.driver?.name ?? "embedded"] ?? []) {
    const version = await installedVersion(name, file);
    if (version !== peerDependencies[name]) wrong.push(`${name}@${peerDependencies[name]}`);
  }
  if (wrong.length === 0) return { check: "Packages", state: "good", found: "all there" };
  return {
    check: "Packages",
    state: "bad",
    found: `${wrong.length} missing, or of a version that does not fit`,
    fix: `Run: npm i ${wrong.join(" ")}`,
  };
}

/** The version of a package as the project would load it; by folder, because packages need not export their manifest. */
async function installedVersion(name: string, file: string): Promise<string | undefined> {
  for (const folder of createRequire(file).resolve.paths(name) ?? []) {
    const text = await readFile(join(folder, name, "package.json"), "utf8").catch(() => undefined);
    if (text !== undefined) return (JSON.parse(text) as { readonly version: string }).version;
  }
  return undefined;
}
