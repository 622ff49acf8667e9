import { statSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigurationError } from "../../entity/index.ts";
import { importTypeScript } from "../project/import-typescript.ts";
import { loadEnvironment } from "../project/load-environment.ts";

/**
 * Runs a server of the project's own, TypeScript included.
 * @throws ConfigurationError when there is no such file; whatever the file throws
 */
export async function runEntry(entry: string, mode: "development" | "production"): Promise<void> {
  if (statSync(entry, { throwIfNoEntry: false })?.isFile() !== true)
    throw new ConfigurationError(`There is no file ${entry}`);
  loadEnvironment(mode);
  await importTypeScript(resolve(entry));
}
