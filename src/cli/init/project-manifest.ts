import { packageManifest } from "../package-root.ts";
import { HOSTS, type HostName } from "./host.ts";

/** Packages of the embedded default: SQLite, and what makes its tables. */
const DATABASE = [
  "@prisma/adapter-libsql",
  "@prisma/driver-adapter-utils",
  "@prisma/get-dmmf",
  "@prisma/schema-engine-wasm",
];
const DEVELOPMENT = ["@types/node", "typescript", "vitest"];

/** The package.json of a new project, with the exact versions that this package is tested with. */
export function projectManifest(name: string, host: HostName): string {
  const { version, engines, devDependencies } = packageManifest();
  const { scripts, dependencies, devDependencies: types } = HOSTS[host];
  const pinned = (names: readonly string[]): Record<string, string> =>
    Object.fromEntries([...names].sort().map((one) => [one, devDependencies[one] as string]));
  const manifest = {
    name,
    private: true,
    type: "module",
    engines,
    scripts: { ...scripts, test: "vitest run", check: "tsc --noEmit && keelson lint" },
    dependencies: { ...pinned([...DATABASE, ...dependencies]), keelson: version },
    devDependencies: pinned([...DEVELOPMENT, ...types]),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
