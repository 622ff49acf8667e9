import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigurationError } from "../../entity/index.ts";
import type { KeyUsage, RotationProgress } from "../../index.ts";
import type { Project } from "../project/load-project.ts";
import { type OpenDatabase, withDriver } from "../project/with-idle-app.ts";

/** The progress of a rotation: ids of records and numbers, without values or keys. */
const ROTATION_FILE = ".keelson/key-rotation.json";

/**
 * How far an interrupted rotation came; undefined without an interrupted one. The file only saves time, so a damaged one is
 * ignored.
 */
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

/** How many stored values each key has, by entity and field. Reads every row. */
export function countUsages(project: Project): Promise<KeyUsage[]> {
  return withTables(project, ({ driver, model }) => project.library.countValuesPerKey(driver, model.entities));
}

/** Id of a key that was given without one (docs/guides/encryption.md). */
const DEFAULT_KEY_ID = "v1";

/**
 * Ids of the keys that an app of this project has, the one that encrypts first: those of its configuration, of
 * KEELSON_ENCRYPTION_KEY, or of the process, as the app itself looks for them.
 */
export function keyIdsOf({ config: { encryption }, library }: Project): readonly string[] {
  if (encryption !== undefined)
    return [encryption.keyId ?? DEFAULT_KEY_ID, ...(encryption.keys ?? []).map(({ keyId }) => keyId)];
  const text = process.env.KEELSON_ENCRYPTION_KEY;
  if (text === undefined || text === "") return library.getRegisteredKeyIds();
  return text.split(",").map((part) => (part.includes(":") ? (part.trim().split(":")[0] as string) : DEFAULT_KEY_ID));
}

/**
 * Opens a project's database for work on what is stored in it.
 * @throws ConfigurationError when its tables do not fit, besides what `withDriver` throws
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
