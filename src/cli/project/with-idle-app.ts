import { withMiddleware } from "../../gate/index.ts";
import type { Keelson, Logger } from "../../index.ts";
import { UnavailableError } from "../../kernel/index.ts";
import type { Project } from "./project.ts";

/**
 * Makes a project's app for as long as some work takes. It is set up on a driver that never connects, so that no plugin
 * starts and nothing is opened. Not beside an app of the same configuration that runs: plugins of the configuration would be
 * set up again.
 * @throws ConfigurationError with everything that keeps the app from being made
 */
export async function withIdleApp<T>({ config, library }: Project, work: (app: Keelson) => T | Promise<T>): Promise<T> {
  const silent = (): void => undefined;
  // That it does not start is no news, and what is wrong in development is for the commands themselves to say.
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
