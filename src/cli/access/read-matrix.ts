import { readFile } from "node:fs/promises";
import * as z from "zod";
import { ConfigurationError } from "../../entity/index.ts";
import type { AccessMatrix } from "./access-matrix.ts";

/** By role, then by operation; a missing role or operation counts as denied. */
const GRANTS = z.record(z.string(), z.array(z.array(z.string())));
const OPERATIONS = z.record(z.string(), GRANTS);
const MATRIX = z.object({
  version: z.literal(1),
  entities: z.record(z.string(), z.object({ operations: OPERATIONS, fields: z.record(z.string(), OPERATIONS) })),
  routes: OPERATIONS,
});

/**
 * Reads a matrix that `keelson access --json` printed.
 * @throws ConfigurationError for other files
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
  const { success, data } = MATRIX.safeParse(read);
  if (!success) throw unusable("is not an access matrix of this version");
  return data as unknown as AccessMatrix;
}
