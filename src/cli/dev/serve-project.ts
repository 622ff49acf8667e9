import type { Keelson } from "../../index.ts";
import type { Project } from "../project/project.ts";
import { portFrom } from "./port-from.ts";

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
  { config, library }: Project,
  { port, host }: { readonly port?: string | undefined; readonly host?: string | undefined },
): Promise<ServedProject> {
  const wanted = portFrom(port);
  const app = library.keelson(config);
  try {
    const { url } = await library.serve(app, { port: wanted, hostname: host });
    return { app, url };
  } catch (error) {
    await app.close();
    throw error;
  }
}
