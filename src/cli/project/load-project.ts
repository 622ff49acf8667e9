import { existsSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { ConfigurationError, isKeelsonError } from "../../entity/index.ts";
import type { KeelsonConfig } from "../../index.ts";
import { importFromProject } from "./import-from-project.ts";
import { importTypeScript } from "./import-typescript.ts";
import { loadEnvironment } from "./load-environment.ts";
import type { Project } from "./project.ts";

/** Names of the configuration's file; the first one that there is counts. */
const CONFIG_FILES = ["ts", "mts", "js", "mjs"].map((extension) => `keelson.config.${extension}`);

/**
 * The file of a project's configuration.
 * @param given as `--config` names it, relative to the working directory
 * @throws ConfigurationError when there is none
 */
function findConfig(given: string | undefined): string {
  if (given !== undefined) {
    if (statSync(given, { throwIfNoEntry: false })?.isFile() !== true)
      throw new ConfigurationError(`--config: there is no file ${given}`);
    return resolve(given);
  }
  const found = CONFIG_FILES.find((name) => existsSync(name));
  if (found !== undefined) return resolve(found);
  throw new ConfigurationError(
    'There is no keelson.config.ts in this folder. Say where it is with --config=<path>, or run "keelson init" in an empty folder',
  );
}

const EXAMPLE = "export default defineConfig({ entities: [...] })";

/**
 * Loads the project in the working directory. Only the configuration file and its imports are executed.
 * @param mode value of NODE_ENV when it is not set @default "development"
 * @throws ConfigurationError when there is no configuration, when it fails, or when it is not a Keelson configuration
 */
export async function loadProject(
  config: string | undefined,
  mode: "development" | "production" = "development",
): Promise<Project> {
  const file = findConfig(config);
  loadEnvironment(mode);
  const library = await importFromProject<Project["library"]>(file, "keelson");
  return { file, config: configOf(await importConfig(file), basename(file)), library };
}

async function importConfig(file: string): Promise<unknown> {
  try {
    return await importTypeScript(file);
  } catch (error) {
    // Keelson errors already name the definition and what is wrong with it.
    if (isKeelsonError(error)) throw error;
    const { name, message, stack } = error instanceof Error ? error : new TypeError(String(error));
    const [at] = /\n\s+at [^\n]+/.exec(stack ?? "") ?? [""];
    throw new ConfigurationError(`${basename(file)} failed: ${name}: ${message}${at}`, { cause: error });
  }
}

function configOf(module: unknown, name: string): KeelsonConfig {
  const { default: exported } = module as { readonly default?: unknown };
  if (exported === undefined) throw new ConfigurationError(`${name} has no default export. Write: ${EXAMPLE}`);
  if (typeof exported === "function")
    throw new ConfigurationError(`${name} exports a function. Export what it returns: ${EXAMPLE}`);
  if (typeof exported !== "object" || exported === null || Array.isArray(exported))
    throw new ConfigurationError(`The default export of ${name} is no configuration. Write: ${EXAMPLE}`);
  // An app has begun to connect when it is made, and most commands only want to look.
  if ("fetch" in exported && "routes" in exported)
    throw new ConfigurationError(
      `${name} exports an app. Export its configuration, ${EXAMPLE}, and make the app elsewhere: keelson(config)`,
    );
  return exported as KeelsonConfig;
}
