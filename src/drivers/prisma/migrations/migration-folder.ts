import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError } from "../../../entity/index.ts";

// Prisma's layout: prisma/migrations/<timestamp>_<name>/migration.sql, and a lock that names the database.

const SCRIPT = "migration.sql";
const LOCK = "migration_lock.toml";
/** Prisma's limit on what a migration is called, so that its folder fits any file system. */
const MAX_NAME = 200;

/** A migration of the folder. */
export interface MigrationFile {
  /** Name of its folder. */
  readonly name: string;
  readonly sql: string;
  /**
   * As Prisma computes them, so that either of us can go on where the other stopped: of the script as it is, and with
   * either kind of line ends, which git changes on some machines.
   */
  readonly checksums: readonly [string, string, string];
}

function isMissing(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === "ENOENT";
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new ConfigurationError(`${file} cannot be read`, { cause: error });
  }
}

async function subfolders(directory: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (isMissing(error)) return [];
    throw new ConfigurationError(`${directory} cannot be read`, { cause: error });
  }
}

async function checkLock(directory: string, provider: string): Promise<void> {
  const lock = await readIfThere(join(directory, LOCK));
  const made = lock === undefined ? undefined : /^provider = "(.*)"$/m.exec(lock)?.[1];
  if (lock !== undefined && made !== provider)
    throw new ConfigurationError(
      `the migrations in ${directory} are for ${made ?? "an unknown database"}, not for ${provider}; keep those of each database in a folder of its own`,
    );
}

/**
 * All migrations, oldest first.
 * @throws ConfigurationError when they are for another database, or one has no script
 */
export async function readMigrations(directory: string, provider: string): Promise<readonly MigrationFile[]> {
  await checkLock(directory, provider);
  const names = [...(await subfolders(directory))].sort();
  return Promise.all(
    names.map(async (name): Promise<MigrationFile> => {
      const sql = await readIfThere(join(directory, name, SCRIPT));
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

/** A moment later than the last migration's, so that the new one sorts behind it whatever the clocks say. */
function nextTimestamp(last: string | undefined): string {
  const now = timestampOf(new Date());
  const previous = /^\d{14}/.exec(last ?? "")?.[0];
  if (previous === undefined || previous < now) return now;
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(previous) as unknown as string[];
  const [year, month, day, hour, minute, second] = parts.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return timestampOf(new Date(Date.UTC(year, month - 1, day, hour, minute, second + 1)));
}

/**
 * Writes a migration behind those that there are.
 * @returns its folder
 * @throws ConfigurationError when the name has no letter or digit
 */
export async function writeMigration(
  directory: string,
  { provider, name, sql, last }: Readonly<Record<"provider" | "name" | "sql", string>> & { readonly last?: string },
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
  const lock = [
    "# Names the database that the migrations are for; Prisma reads it too.",
    `provider = "${provider}"`,
    "",
  ];
  await writeFile(join(directory, LOCK), lock.join("\n"));
  return folder;
}
