import { ConfigurationError } from "../../entity/index.ts";
import type { Project } from "../project/project.ts";
import { type OpenDatabase, withDriver } from "../project/with-driver.ts";

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
