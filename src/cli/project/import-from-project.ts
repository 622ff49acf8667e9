import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { ConfigurationError } from "../../entity/index.ts";

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
