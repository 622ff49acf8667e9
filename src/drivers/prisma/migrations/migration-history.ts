import { ConfigurationError } from "../../../entity/index.ts";
import type { MigrationFile } from "./migration-folder.ts";

/** A row of `_prisma_migrations`, Prisma's own table. */
export interface MigrationRecord {
  readonly name: string;
  readonly checksum: string;
  readonly finished: boolean;
  readonly rolledBack: boolean;
}

/** Where a database stands towards the migrations of a folder. */
export interface MigrationHistory {
  readonly applied: readonly string[];
  readonly pending: readonly MigrationFile[];
  readonly failed: readonly string[];
  /** Applied, and in no folder. */
  readonly missing: readonly string[];
  /** Applied, and changed since. */
  readonly edited: readonly string[];
}

/** @param records oldest first */
export function historyOf(records: readonly MigrationRecord[], files: readonly MigrationFile[]): MigrationHistory {
  // One that was rolled back has another record when it was applied after all.
  const current = new Map(records.filter(({ rolledBack }) => !rolledBack).map((record) => [record.name, record]));
  const known = new Map(files.map((file) => [file.name, file]));
  const applied = [...current.values()].filter(({ finished }) => finished);
  return {
    applied: applied.map(({ name }) => name),
    pending: files.filter(({ name }) => !current.has(name)),
    failed: [...current.values()].filter(({ finished }) => !finished).map(({ name }) => name),
    missing: applied.map(({ name }) => name).filter((name) => !known.has(name)),
    edited: applied.filter(({ name, checksum }) => isEdited(known.get(name), checksum)).map(({ name }) => name),
  };
}

function isEdited(file: MigrationFile | undefined, checksum: string): boolean {
  return file !== undefined && !file.checksums.includes(checksum);
}

/**
 * What has to be put right before anything is applied.
 * @throws ConfigurationError naming each
 */
export function assertApplicable({ failed, edited }: MigrationHistory): void {
  const problems = [
    ...failed.map(
      (name) =>
        `migration ${name} failed halfway; look at the database, then say how it ended: keelson migrate resolve ${name} --as applied, or --as rolled-back`,
    ),
    ...edited.map(
      (name) =>
        `migration ${name} was changed after it was applied; restore its migration.sql, and put what is new into a migration of its own`,
    ),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
}
