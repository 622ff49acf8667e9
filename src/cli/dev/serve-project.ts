import type * as NodeHost from "../../adapters/node/index.ts";
import { ConfigurationError } from "../../entity/index.ts";
import type { Keelson } from "../../index.ts";
import { importFromProject } from "../project/import-from-project.ts";
import type { Project } from "../project/project.ts";

/** A project's app that is being served. */
export interface ServedProject {
  readonly app: Keelson;
  readonly url: string;
}

/**
 * Serves a project's app over node:http; SIGTERM and SIGINT end it gracefully.
 * @throws ConfigurationError when the app cannot start, or the port is taken
 */
export async function serveProject(
  { file, config, library }: Project,
  { port, host }: { readonly port?: string | undefined; readonly host?: string | undefined },
): Promise<ServedProject> {
  const wanted = portFrom(port);
  const { serve } = await importFromProject<typeof NodeHost>(file, "keelson/node");
  const app = library.keelson(config);
  try {
    const { url } = await serve(app, { port: wanted, hostname: host });
    return { app, url };
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** The requested port. @throws ConfigurationError when it is not a port */
function portFrom(given: string | undefined): number {
  const text = given ?? (process.env.PORT || "3000");
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new ConfigurationError(`The port is a number from 0 (any free one) to 65535, not "${text}"`);
}
