import { ConfigurationError } from "../../../entity/index.ts";
import type { Ledger } from "./migration-database.ts";
import { migrationFailure } from "./migration-failure.ts";
import type { MigrationFile } from "./migration-folder.ts";
import { assertApplicable, historyOf } from "./migration-history.ts";
import type { MigrationProgress } from "./migrations.ts";

/** What a deployment needs besides the database. */
export interface Deployment {
  readonly files: readonly MigrationFile[];
  readonly baseline: boolean;
  readonly onProgress: (progress: MigrationProgress) => void;
  /** Whether the database has tables of the definitions. */
  hasTables(): Promise<boolean>;
  /** Sentences on what the database and the definitions differ in. */
  differences(): Promise<readonly string[]>;
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

/** A database whose tables were pushed has to be declared a baseline, once. */
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

/** Applies pending migrations, or records them, in their order. */
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
