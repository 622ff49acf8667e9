import type { Keelson, Logger } from "../../index.ts";
import { overlayDriver, UnavailableError } from "../../kernel/index.ts";
import { type AppParts, partsOf } from "./app-parts.ts";
import type { Project } from "./project.ts";

/**
 * What a project's app is made of. It is set up on a driver that never connects, so that no plugin starts and nothing is
 * opened. Not beside an app of the same configuration that runs: plugins of the configuration would be set up again.
 * @throws ConfigurationError with everything that keeps the app from starting
 */
export async function lookAt({ config, library }: Project): Promise<AppParts> {
  const silent = (): void => undefined;
  // That it does not start is no news, and what is wrong in development is for the commands themselves to say.
  const logger: Logger = { debug: silent, info: silent, warn: silent, error: silent };
  const driver = overlayDriver(library.memoryDriver(), { connect: refuseToConnect });
  const app: Keelson = library.keelson({ ...config, driver, logger });
  await app.ready.catch(silent);
  await app.close();
  return partsOf(app);
}

async function refuseToConnect(): Promise<void> {
  throw new UnavailableError("Nothing is opened to look at an app");
}
