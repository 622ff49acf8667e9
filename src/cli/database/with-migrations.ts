import type * as Drivers from "../../drivers/prisma/index.ts";
import type { Migrations, SchemaChange } from "../../drivers/prisma/index.ts";
import { importFromProject, loadProject } from "../project/load-project.ts";
import { lookAt } from "../project/with-idle-app.ts";
import type { Output } from "../shell/output.ts";
import { resolveTarget } from "./resolve-target.ts";

/** Arguments of the commands that compare or change a database. */
interface DatabaseArguments {
  readonly config?: string | undefined;
  readonly url?: string | undefined;
}

/**
 * Opens the migrations of the project in the working directory, and closes them after the work.
 * @throws ConfigurationError for a project or a database that cannot be opened
 */
export async function withMigrations<T>(
  { config, url }: DatabaseArguments,
  work: (migrations: Drivers.Migrations) => Promise<T>,
): Promise<T> {
  const project = await loadProject(config);
  const target = resolveTarget(project, url);
  const { model } = await lookAt(project);
  const { openMigrations } = await importFromProject<typeof Drivers>(project.file, "keelson/prisma");
  const migrations = await openMigrations({ entities: model, target, log: project.library.noopLogger });
  try {
    return await work(migrations);
  } finally {
    await migrations.close();
  }
}

/** Applies pending migrations, or only records them for a baseline, and prints them. */
export async function deployPending(
  output: Output,
  migrations: Migrations,
  baseline = false,
): Promise<readonly string[]> {
  const { applied } = await output.withProgress("Applying migrations", (report) =>
    migrations.deploy({ baseline, onProgress: ({ name, done, total }) => report(done, total, name) }),
  );
  return applied;
}

/** Whether a plan may be executed; if not, prints the remedy. */
export function isAccepted(output: Output, changes: readonly SchemaChange[], accepted: boolean): boolean {
  const losses = changes.filter(({ destructive }) => destructive).length;
  if (losses === 0 || accepted) return true;
  output.error(
    `${losses === 1 ? "A change loses" : `${losses} changes lose`} values, so nothing was changed. ` +
      'Keep a renamed column with .renamedFrom("old"), or accept the loss: --accept-data-loss',
  );
  return false;
}

/** Prints the applied migrations. */
export function printApplied(output: Output, applied: readonly string[]): void {
  for (const name of applied) output.line(`Applied: ${name}`);
  if (applied.length === 0) output.line("No migration was pending.");
}

/** Prints changes, one per line, starting with those that lose values, which are marked. */
export function printChanges(output: Output, changes: readonly SchemaChange[]): void {
  const [losses, others] = [true, false].map((lost) => changes.filter(({ destructive }) => destructive === lost));
  for (const { sentence } of losses ?? []) output.line(`${output.style("red", "loses values")}  ${sentence}`);
  for (const { sentence } of others ?? []) output.line(`              ${sentence}`);
}
