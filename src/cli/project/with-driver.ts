import type { EntityModel } from "../../entity/index.ts";
import type { Driver } from "../../index.ts";
import { lookAt } from "./look-at.ts";
import type { Project } from "./project.ts";

/** A project's database, as its app would open it, without the app: no plugin starts, and no table changes. */
export interface OpenDatabase {
  /** The base driver, which sees ciphertext. */
  readonly driver: Driver;
  readonly model: EntityModel;
}

/**
 * Connects the driver of a project for as long as some work takes.
 * @throws ConfigurationError, DatabaseUnavailableError when it cannot be opened
 */
export async function withDriver<T>(project: Project, work: (database: OpenDatabase) => Promise<T>): Promise<T> {
  const { config, library } = project;
  const { model } = await lookAt(project);
  const driver = config.driver ?? library.embedded();
  // As in production: nothing is prepared for a push.
  await driver.connect({ model, log: library.noopLogger, production: true });
  try {
    return await work({ driver, model });
  } finally {
    await driver.disconnect();
  }
}
