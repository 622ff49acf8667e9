import type * as Drivers from "../../drivers/prisma/index.ts";
import { importFromProject } from "../project/import-from-project.ts";
import { loadProject } from "../project/load-project.ts";
import { lookAt } from "../project/look-at.ts";
import { resolveTarget } from "./resolve-target.ts";

/** Arguments of the commands that compare or change a database. */
interface DatabaseArguments {
  readonly config?: string | undefined;
  readonly url?: string | undefined;
}

/**
 * Opens the migrations of the project in the working directory for as long as some work takes.
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
