import type { EntityModel } from "../../entity/index.ts";
import { withMiddleware } from "../../gate/index.ts";
import type { Driver, Keelson, Logger } from "../../index.ts";
import { UnavailableError } from "../../kernel/index.ts";
import { type AppParts, type Project, partsOf } from "./load-project.ts";

/**
 * Creates a project's app for some work, and closes it afterwards. It is set up with a driver that never connects, so
 * that no plugin starts and nothing is opened. Do not use it while an app with the same configuration runs: the
 * configuration's plugins would be set up again.
 * @throws ConfigurationError with all problems that prevent the app from being created
 */
export async function withIdleApp<T>({ config, library }: Project, work: (app: Keelson) => T | Promise<T>): Promise<T> {
  const silent = (): void => undefined;
  // Silent, because the app is not supposed to start, and the commands report development problems themselves.
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
 * Returns the parts of a project's app, without opening anything.
 * @throws ConfigurationError with all problems that prevent the app from being created
 */
export function lookAt(project: Project): Promise<AppParts> {
  return withIdleApp(project, partsOf);
}

/** A project's database, opened like its app would, but without the app: no plugin starts, and no table changes. */
export interface OpenDatabase {
  /** The base driver, which returns ciphertext. */
  readonly driver: Driver;
  readonly model: EntityModel;
}

/**
 * Connects the driver of a project for some work, and disconnects it afterwards.
 * @throws ConfigurationError, DatabaseUnavailableError when it cannot be opened
 */
export async function withDriver<T>(project: Project, work: (database: OpenDatabase) => Promise<T>): Promise<T> {
  const { config, library } = project;
  const { model } = await lookAt(project);
  const driver = config.driver ?? library.embedded();
  // As in production, so that nothing is prepared for a push.
  await driver.connect({ model, log: library.noopLogger, production: true });
  try {
    return await work({ driver, model });
  } finally {
    await driver.disconnect();
  }
}
