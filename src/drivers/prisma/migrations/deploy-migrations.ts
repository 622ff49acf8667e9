import { ConfigurationError } from "../../../entity/index.ts";
import { DatabaseUnavailableError } from "../../../kernel/index.ts";
import { PrismaFailure, toKeelsonError } from "../../sql/index.ts";
import type { Ledger, MigrationRecord } from "./migration-database.ts";
import type { MigrationFile } from "./migration-folder.ts";
import type { MigrationProgress } from "./migrations.ts";

/** The input of a deployment, except for the database. */
export interface Deployment {
  readonly files: readonly MigrationFile[];
  readonly baseline: boolean;
  readonly onProgress: (progress: MigrationProgress) => void;
  /** Whether the database has any table of the definitions. */
  hasTables(): Promise<boolean>;
  /** The differences between the database and the definitions, one sentence each. */
  differences(): Promise<readonly string[]>;
}

/** Applies or records pending migrations, in order. */
export function deployMigrations(ledger: Ledger, deployment: Deployment): Promise<readonly string[]> {
  const { files, baseline, onProgress } = deployment;
  return ledger.exclusively(async () => {
    const records = await ledger.records();
    const history = historyOf(records, files);
    assertApplicable(history);
    const names = history.pending.map(({ name }) => name);
    if (names.length === 0) return names;
    await assertBaseline(deployment, records.length === 0);
    for (const [index, file] of history.pending.entries()) {
      onProgress({ name: file.name, done: index, total: names.length });
      await (baseline ? ledger.record(file) : applyOne(ledger, file));
    }
    onProgress({ name: names.at(-1) as string, done: names.length, total: names.length });
    return names;
  });
}

async function applyOne(ledger: Ledger, file: MigrationFile): Promise<void> {
  try {
    await ledger.apply(file);
  } catch (error) {
    const records = await ledger.records().catch(() => []);
    const isHalf = historyOf(records, []).failed.includes(file.name);
    const outcome = isHalf
      ? `what ran before stays; look at the database, then run: keelson migrate resolve ${file.name} --as rolled-back`
      : "nothing of it was kept, and those after it were not tried";
    throw migrationFailure(error, file, outcome);
  }
}

/** A database whose tables were pushed must be declared a baseline, once. */
async function assertBaseline({ baseline, hasTables, differences }: Deployment, isFirst: boolean): Promise<void> {
  if (baseline) {
    const problems = await differences();
    if (problems.length === 0) return;
    throw new ConfigurationError([
      "only a database that fits the definitions can be a baseline; first run: keelson db push",
      ...problems,
    ]);
  }
  if (isFirst && (await hasTables()))
    throw new ConfigurationError(
      "the database has tables that no migration made; if they fit the definitions, record the migrations without running them: keelson migrate deploy --baseline",
    );
}

/** The state of a database compared with the migrations of a folder. */
interface MigrationHistory {
  readonly applied: readonly string[];
  readonly pending: readonly MigrationFile[];
  readonly failed: readonly string[];
  /** Applied migrations whose folder no longer exists. */
  readonly missing: readonly string[];
  /** Applied migrations that have been changed since. */
  readonly edited: readonly string[];
}

/** @param records oldest first */
export function historyOf(records: readonly MigrationRecord[], files: readonly MigrationFile[]): MigrationHistory {
  // A migration that was rolled back and then applied has a second record.
  const current = new Map(records.filter(({ rolledBack }) => !rolledBack).map((record) => [record.name, record]));
  const known = new Map(files.map((file) => [file.name, file]));
  const applied = [...current.values()].filter(({ finished }) => finished);
  return {
    applied: applied.map(({ name }) => name),
    pending: files.filter(({ name }) => !current.has(name)),
    failed: [...current.values()].filter(({ finished }) => !finished).map(({ name }) => name),
    missing: applied.map(({ name }) => name).filter((name) => !known.has(name)),
    edited: applied
      .filter(({ name, checksum }) => known.get(name)?.checksums.includes(checksum) === false)
      .map(({ name }) => name),
  };
}

/** @throws ConfigurationError naming the problems to fix before migrations can be applied */
function assertApplicable({ failed, edited }: MigrationHistory): void {
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

/** Known failures of scripts, by SQLSTATE or by the database's message, which may contain values. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^23505|^UniqueConstraintViolation/, "rows share a value that it makes unique"],
  [/^23502|^NullConstraintViolation/, "rows have no value for a column that it makes required"],
  [/^23503|^ForeignKeyConstraintViolation|keelson_guard/, "rows would refer to records that do not exist"],
  [/^42P07|^42701|^42710|already exists|^duplicate column/, "something that it makes exists already"],
  [/^42P01|^42703|^42704|^(TableDoesNotExist|ColumnNotFound)|no such/, "something that it changes does not exist"],
  [/^42601|syntax error/, "its SQL has a mistake"],
  [/^25001/, "it has a statement that only runs on its own; give that statement a migration of its own"],
];

interface Failure {
  readonly code?: unknown;
  readonly message?: unknown;
  /** PostgreSQL's position in the script, starting at 1. */
  readonly position?: unknown;
  readonly cause?: { readonly kind?: unknown; readonly message?: unknown };
}

/** The error of a failed migration, without the database's own message. */
export function migrationFailure(
  error: unknown,
  { name, sql }: Pick<MigrationFile, "name" | "sql">,
  outcome: string,
): Error {
  const unavailable = toKeelsonError(error, { operation: "migrate" });
  if (unavailable instanceof DatabaseUnavailableError) return unavailable;
  const failure = (typeof error === "object" && error !== null ? error : {}) as Failure;
  const cause = new PrismaFailure(error, { operation: "migrate" });
  const words = [failure.code, failure.cause?.kind, failure.cause?.message, failure.message].map(String);
  const known = REASONS.find(([pattern]) => words.some((word) => pattern.test(word)))?.[1];
  const reason = known ?? `the database refuses it (${cause.sqlState ?? cause.code})`;
  const at = Number(failure.position);
  const line = Number.isInteger(at) ? `, line ${sql.slice(0, at - 1).split("\n").length}` : "";
  return new ConfigurationError(`migration ${name}${line}: ${reason}; ${outcome}`, { cause });
}
