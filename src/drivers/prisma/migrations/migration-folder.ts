import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError } from "../../../entity/index.ts";

// Prisma's layout: prisma/migrations/<timestamp>_<name>/migration.sql, and a lock file that names the database.

const SCRIPT = "migration.sql";
const LOCK = "migration_lock.toml";
/** Prisma's limit on the length of a migration's name, so that its folder is valid on any file system. */
const MAX_NAME = 200;

/** A migration of the folder. */
export interface MigrationFile {
  /** Name of its folder. */
  readonly name: string;
  readonly sql: string;
  /**
   * The checksums that Prisma computes, so that either tool can continue the other's work: of the unchanged script, and
   * with both kinds of line endings, which git may change.
   */
  readonly checksums: readonly [string, string, string];
}

/** The content of a file; undefined for a missing one. @throws ConfigurationError */
async function ifThere<T>(path: string, reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "ENOENT") return undefined;
    throw new ConfigurationError(`${path} cannot be read`, { cause: error });
  }
}

const readText = (file: string): Promise<string | undefined> => ifThere(file, readFile(file, "utf8"));

async function checkLock(directory: string, provider: string): Promise<void> {
  const lock = await readText(join(directory, LOCK));
  if (lock === undefined) return;
  const made = /^provider = "(.*)"$/m.exec(lock)?.[1];
  if (made !== provider)
    throw new ConfigurationError(
      `the migrations in ${directory} are for ${made ?? "an unknown database"}, not for ${provider}; keep those of each database in a folder of its own`,
    );
}

/**
 * Reads all migrations, oldest first. @throws ConfigurationError when they are for another database, or one has no
 * script
 */
export async function readMigrations(directory: string, provider: string): Promise<readonly MigrationFile[]> {
  await checkLock(directory, provider);
  const entries = (await ifThere(directory, readdir(directory, { withFileTypes: true }))) ?? [];
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return Promise.all(
    names.sort().map(async (name): Promise<MigrationFile> => {
      const sql = await readText(join(directory, name, SCRIPT));
      if (sql === undefined)
        throw new ConfigurationError(`${join(directory, name)} has no ${SCRIPT}; restore it, or remove the folder`);
      const unix = sql.replaceAll("\r\n", "\n");
      return { name, sql, checksums: [digest(sql), digest(unix), digest(unix.replaceAll("\n", "\r\n"))] };
    }),
  );
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function timestampOf(date: Date): string {
  return date.toISOString().replace(/\D/g, "").slice(0, 14);
}

/** A timestamp after the last migration's, so that the new one sorts last even if clocks differ. */
function nextTimestamp(last: string | undefined): string {
  const now = timestampOf(new Date());
  const previous = /^\d{14}/.exec(last ?? "")?.[0];
  if (previous === undefined || previous < now) return now;
  const part = (from: number, to: number): number => Number(previous.slice(from, to));
  const time = [part(4, 6) - 1, part(6, 8), part(8, 10), part(10, 12), part(12, 14) + 1] as const;
  return timestampOf(new Date(Date.UTC(part(0, 4), ...time)));
}

/**
 * Writes a migration after the existing ones.
 * @returns its folder
 * @throws ConfigurationError when the name has no letter or digit
 */
export async function writeMigration(
  directory: string,
  { provider, name, sql, last }: Readonly<Record<"provider" | "name" | "sql", string> & { last: string | undefined }>,
): Promise<string> {
  const words = name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, MAX_NAME);
  if (words === "") throw new ConfigurationError("a migration needs a name of letters and digits: add_title_to_post");
  const folder = join(directory, `${nextTimestamp(last)}_${words}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, SCRIPT), sql);
  const lock = `# Names the database that the migrations are for; Prisma reads it too.\nprovider = "${provider}"\n`;
  await writeFile(join(directory, LOCK), lock);
  return folder;
}
