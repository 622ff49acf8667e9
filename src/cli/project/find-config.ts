import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { ConfigurationError } from "../../entity/index.ts";

/** Names of the configuration's file; the first one that there is counts. */
const CONFIG_FILES = ["ts", "mts", "js", "mjs"].map((extension) => `keelson.config.${extension}`);

/**
 * The file of a project's configuration.
 * @param given as `--config` names it, relative to the working directory
 * @throws ConfigurationError when there is none
 */
export function findConfig(given: string | undefined): string {
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
