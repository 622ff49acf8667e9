import { readFile } from "node:fs/promises";
import { ConfigurationError } from "../../entity/index.ts";
import type { AccessMatrix } from "./access-matrix.ts";

/**
 * A matrix that `keelson access --json` printed.
 * @throws ConfigurationError for anything else
 */
export async function readMatrix(file: string): Promise<AccessMatrix> {
  const unusable = (why: string, cause?: unknown): ConfigurationError =>
    new ConfigurationError(`${file} ${why}. Make it with: keelson access --json > ${file}`, { cause });
  let read: unknown;
  try {
    read = JSON.parse(await readFile(file, "utf8"));
  } catch (cause) {
    throw unusable("cannot be read as JSON", cause);
  }
  const { version, entities, routes } = (read ?? {}) as Partial<AccessMatrix>;
  const isWhole = typeof entities === "object" && entities !== null && typeof routes === "object" && routes !== null;
  if (version !== 1 || !isWhole) throw unusable("is no access matrix of this version");
  return read as AccessMatrix;
}
