import { existsSync, readFileSync } from "node:fs";

const folder = new URL("./", import.meta.url);

/**
 * Ends the process with the command to type if a package that only benchmarks need is missing. Compiled servers and the
 * load generator import them, in processes of their own.
 */
export function requirePackages(): void {
  const { devDependencies } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as {
    devDependencies: Record<string, string>;
  };
  const isInstalled = (name: string): boolean => existsSync(new URL(`node_modules/${name}/package.json`, folder));
  if (Object.keys(devDependencies).every(isInstalled)) return;
  process.stderr.write("bench: packages of the benchmarks are missing; npm ci --prefix bench installs them\n");
  process.exit(1);
}
