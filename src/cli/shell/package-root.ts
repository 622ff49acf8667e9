import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The parts of the package's manifest that are used. */
export interface PackageManifest {
  readonly version: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The folder of Keelson's own package.json, which is at a different depth when compiled. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}

/** Keelson's own package.json. */
export function packageManifest(): PackageManifest {
  return JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as PackageManifest;
}

export function keelsonVersion(): string {
  return packageManifest().version;
}
