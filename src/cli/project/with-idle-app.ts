import type { EntityModel } from "../../entity/index.ts";
import { withMiddleware } from "../../gate/index.ts";
import type { Driver, Keelson, Logger } from "../../index.ts";
import { UnavailableError } from "../../kernel/index.ts";
import { type AppParts, type Project, partsOf } from "./load-project.ts";

/**
 * Makes a project's app for as long as some work takes. It is set up on a driver that never connects, so that no plugin
 * starts and nothing is opened. Not beside an app of the same configuration that runs: plugins of the configuration would be
 * set up again.
 * @throws ConfigurationError with everything that keeps the app from being made
 */
export async function withIdleApp<T>({ config, library }: Project, work: (app: Keelson) => T | Promise<T>): Promise<T> {
  const silent = (): void => undefined;
  // Silent: the app is not meant to start, and the commands report development problems themselves.
  const logger: Logger = { debug: silent, info: silent, warn: silent, error: silent };
  const driver = withMiddleware(library.memoryDriver(), (statement, next) => next(statement), {
    connect: refuseToConnect,
  });
  const app: Keelson = library.keelson({ ...config, driver, logger });
  try {
    await app.ready.catch(silent);
    return await work(app);
  } finally {
    await app.close();
  }
}

async function refuseToConnect(): Promise<void> {
  throw new UnavailableError("Nothing is opened to look at an app");
}

/**
 * What a project's app is made of; nothing is opened for it.
 * @throws ConfigurationError with everything that keeps the app from being made
 */
export function lookAt(project: Project): Promise<AppParts> {
  return withIdleApp(project, partsOf);
}

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
