import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type AnyEntity,
  ConfigurationError,
  createModel,
  type EntityModel,
  isKeelsonError,
  isObject,
} from "../../entity/index.ts";
import type * as Library from "../../index.ts";
import type { Keelson, KeelsonConfig, RouteListing } from "../../index.ts";

/** The names of the configuration file; the first existing one is used. */
const CONFIG_FILES = ["ts", "mts", "js", "mjs"].map((extension) => `keelson.config.${extension}`);

/**
 * Finds the configuration file of a project.
 * @param given the value of `--config`, relative to the working directory
 * @throws ConfigurationError when the file does not exist
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
 * @param mode the value of NODE_ENV if it is not set @default "development"
 * @throws ConfigurationError when the configuration is missing, throws, or is not a Keelson configuration
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
    // Keelson errors already contain the definition and its problem.
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
  if (!isObject(exported))
    throw new ConfigurationError(`The default export of ${name} is not a Keelson configuration. Write: ${EXAMPLE}`);
  // An app begins to connect when it is created, and most commands only read definitions.
  if ("fetch" in exported && "routes" in exported)
    throw new ConfigurationError(
      `${name} exports an app. Export its configuration, ${EXAMPLE}, and make the app elsewhere: keelson(config)`,
    );
  return exported as unknown as KeelsonConfig;
}

/**
 * Imports a subpath of Keelson like the project itself does. Two copies in one process would have separate rules and
 * keys, but share Prisma's engine, which supports only one of them.
 * @throws ConfigurationError when Keelson is not installed in the project
 */
export async function importFromProject<T>(
  file: string,
  subpath: "keelson" | `keelson/${"node" | "openapi" | "prisma"}`,
): Promise<T> {
  let path: string;
  try {
    path = createRequire(file).resolve(subpath);
  } catch (cause) {
    throw new ConfigurationError("Keelson is not installed in this project. Run: npm i keelson", { cause });
  }
  return (await import(pathToFileURL(path).href)) as T;
}

/** Runs a file of the project, including TypeScript, which Node 20 does not support. */
export async function importTypeScript(file: string): Promise<unknown> {
  const { createJiti } = await import("jiti");
  // A cache on disk may be stale if the clock is wrong, and saves only a few milliseconds.
  const jiti = createJiti(file, { fsCache: false, interopDefault: false });
  return jiti.import(file);
}

/**
 * Loads variables from `.env` in the working directory, unless they are already set.
 * @param mode the value of NODE_ENV if it is not set
 */
export function loadEnvironment(mode: "development" | "production"): void {
  if (existsSync(".env")) process.loadEnvFile(".env");
  // The types of some web frameworks declare it read-only.
  const environment: Record<string, string | undefined> = process.env;
  environment.NODE_ENV ??= mode;
}

/** The parts of an app, as data. */
export interface AppParts {
  /** All entities, including those of plugins. */
  readonly model: EntityModel;
  readonly routes: readonly RouteListing[];
}

export function partsOf({ entities, routes }: Pick<Keelson, "entities" | "routes">): AppParts {
  return { model: createModel(Object.values(entities) as readonly AnyEntity[]), routes };
}

/** A loaded project. */
export interface Project {
  /** The path of its configuration file. */
  readonly file: string;
  readonly config: Library.KeelsonConfig;
  /**
   * The copy of Keelson that the project uses. Rules that were defined by name, and process-wide keys, exist in that
   * copy only; a command that is installed elsewhere is a different copy.
   */
  readonly library: typeof Library;
}
