import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigurationError } from "../../entity/index.ts";
import type { KeyUsage, RotationProgress } from "../../index.ts";
import type { Project } from "../project/load-project.ts";
import { type OpenDatabase, withDriver } from "../project/with-idle-app.ts";

/** The progress of a rotation: ids of records and numbers, without values or keys. */
const ROTATION_FILE = ".keelson/key-rotation.json";

/** Reads the progress of an interrupted rotation, if any. The file only saves time, so a damaged file is ignored. */
export async function readRotation(): Promise<RotationProgress | undefined> {
  try {
    return JSON.parse(await readFile(ROTATION_FILE, "utf8")) as RotationProgress;
  } catch {
    return undefined;
  }
}

export async function saveRotation(progress: RotationProgress): Promise<void> {
  await mkdir(dirname(ROTATION_FILE), { recursive: true });
  await writeFile(ROTATION_FILE, JSON.stringify(progress));
}

export function forgetRotation(): Promise<void> {
  return rm(ROTATION_FILE, { force: true });
}

/** Counts the stored values of each key, by entity and field. Reads every row. */
export function countUsages(project: Project): Promise<KeyUsage[]> {
  return withTables(project, ({ driver, model }) => project.library.countValuesPerKey(driver, model.entities));
}

/** The id of a key that was configured without one (docs/guides/encryption.md). */
const DEFAULT_KEY_ID = "v1";

/**
 * The ids of the project's keys, starting with the one that encrypts: those of its configuration, of
 * KEELSON_ENCRYPTION_KEY, or of the process, resolved like in the app.
 */
export function keyIdsOf({ config: { encryption }, library }: Project): readonly string[] {
  if (encryption !== undefined)
    return [encryption.keyId ?? DEFAULT_KEY_ID, ...(encryption.keys ?? []).map(({ keyId }) => keyId)];
  const text = process.env.KEELSON_ENCRYPTION_KEY;
  if (text === undefined || text === "") return library.getRegisteredKeyIds();
  return text.split(",").map((part) => (part.includes(":") ? (part.trim().split(":")[0] as string) : DEFAULT_KEY_ID));
}

/**
 * Opens a project's database for work on its stored data.
 * @throws ConfigurationError when its tables do not match; any error that `withDriver` throws
 */
export function withTables<T>(project: Project, work: (database: OpenDatabase) => Promise<T>): Promise<T> {
  return withDriver(project, async (database) => {
    const differences = (await database.driver.schema?.pending()) ?? [];
    if (differences.length === 0) return work(database);
    throw new ConfigurationError(
      `The database does not fit the entities: ${differences.slice(0, 3).join("; ")}. Run: keelson db push, or keelson migrate deploy`,
    );
  });
}
