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

/** Names of the configuration's file; the first existing one counts. */
const CONFIG_FILES = ["ts", "mts", "js", "mjs"].map((extension) => `keelson.config.${extension}`);

/**
 * The file of a project's configuration.
 * @param given as `--config` names it, relative to the working directory
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
  if (!isObject(exported))
    throw new ConfigurationError(`The default export of ${name} is not a Keelson configuration. Write: ${EXAMPLE}`);
  // An app has begun to connect when it is made, and most commands only want to look.
  if ("fetch" in exported && "routes" in exported)
    throw new ConfigurationError(
      `${name} exports an app. Export its configuration, ${EXAMPLE}, and make the app elsewhere: keelson(config)`,
    );
  return exported as unknown as KeelsonConfig;
}

/**
 * A subpath of Keelson as the project itself imports it. Two copies in one process would each have rules and keys of their
 * own, and share Prisma's engine, which one of them would take away from the other.
 * @throws ConfigurationError when the project has no Keelson
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

/** Runs a file of the project, TypeScript included, which Node 20 does not do by itself. */
export async function importTypeScript(file: string): Promise<unknown> {
  const { createJiti } = await import("jiti");
  // A cache on disk would outlive what it was made from when a clock goes wrong, and saves some milliseconds.
  const jiti = createJiti(file, { fsCache: false, interopDefault: false });
  return jiti.import(file);
}

/**
 * Loads variables from `.env` in the working directory, unless they are set already.
 * @param mode value of NODE_ENV when it is not set
 */
export function loadEnvironment(mode: "development" | "production"): void {
  if (existsSync(".env")) process.loadEnvFile(".env");
  // Types that a web framework brings along declare it read-only.
  const environment: Record<string, string | undefined> = process.env;
  environment.NODE_ENV ??= mode;
}

/** What an app is made of, as data. */
export interface AppParts {
  /** All entities, those of plugins included. */
  readonly model: EntityModel;
  readonly routes: readonly RouteListing[];
}

export function partsOf({ entities, routes }: Pick<Keelson, "entities" | "routes">): AppParts {
  return { model: createModel(Object.values(entities) as readonly AnyEntity[]), routes };
}

/** A project as commands see it. */
export interface Project {
  /** Path of its configuration. */
  readonly file: string;
  readonly config: Library.KeelsonConfig;
  /**
   * The copy of Keelson that the project uses itself. Rules that were defined by name, and process-wide keys, are known to
   * that copy alone, and a command that was installed elsewhere is another one.
   */
  readonly library: typeof Library;
}
