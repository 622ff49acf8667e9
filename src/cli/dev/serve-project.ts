import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { ArgsDef } from "citty";
import type * as NodeHost from "../../adapters/node/index.ts";
import { ConfigurationError } from "../../entity/index.ts";
import type { Keelson } from "../../index.ts";
import { importFromProject, importTypeScript, loadEnvironment, type Project } from "../project/load-project.ts";
import { CONFIG_ARGUMENT } from "../shell/command.ts";
import type { Output } from "../shell/output.ts";
import { keelsonVersion } from "../shell/package-root.ts";

/** A project's app that is being served. */
export interface ServedProject {
  readonly app: Keelson;
  readonly url: string;
}

/**
 * Serves a project's app over node:http; SIGTERM and SIGINT end it gracefully.
 * @throws ConfigurationError when the app cannot start, or the port is in use
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

/** Parses the requested port. @throws ConfigurationError when it is not a port */
function portFrom(given: string | undefined): number {
  const text = given ?? (process.env.PORT || "3000");
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new ConfigurationError(`The port is a number from 0 (any free one) to 65535, not "${text}"`);
}

/** Prints the information that the developer needs next: address, routes, database, and documentation. */
export async function printBanner(output: Output, { config }: Project, { app, url }: ServedProject): Promise<void> {
  const database = config.driver === undefined ? ".keelson/app.db (SQLite)" : config.driver.name;
  const isReady = await app.ready.then(
    () => true,
    () => false,
  );
  const docs = app.routes.find(({ action, plugin }) => action === "docs" && plugin === "openapi");
  const open = app.routes.find(
    ({ method, entity, path, rules }) =>
      method === "GET" && entity !== undefined && rules.includes("everyone") && !path.includes(":"),
  );
  const rows = {
    API: `${url}${app.apiPrefix}  (${app.routes.length} routes; "keelson routes" lists them)`,
    Database: isReady ? database : `${database}, not available; requests get 503 until it is`,
    Docs: docs === undefined ? "node_modules/keelson/README.md" : `${url}${docs.path}`,
  };
  output.line(output.style("bold", `Keelson ${keelsonVersion()}`));
  for (const [name, text] of Object.entries(rows)) output.line(`  ${output.style("dim", name.padEnd(8))}  ${text}`);
  if (open !== undefined) output.line(`  ${output.style("dim", "Try".padEnd(8))}  curl ${url}${open.path}`);
}

/**
 * Runs a project's own server file, including TypeScript.
 * @throws ConfigurationError when the file does not exist; any error that the file throws
 */
export async function runEntry(entry: string, mode: "development" | "production"): Promise<void> {
  if (statSync(entry, { throwIfNoEntry: false })?.isFile() !== true)
    throw new ConfigurationError(`There is no file ${entry}`);
  loadEnvironment(mode);
  await importTypeScript(resolve(entry));
}

/** Arguments of the commands that serve. */
export const SERVER_ARGUMENTS = {
  entry: {
    type: "positional",
    description: "A server of your own to run instead, such as src/server.ts",
    required: false,
  },
  ...CONFIG_ARGUMENT,
  port: { type: "string", description: "0 takes any free one. Default: PORT, or 3000", valueHint: "number" },
  host: {
    type: "string",
    description: "Address to listen on. Default: this machine alone for dev, all addresses for start",
    valueHint: "address",
  },
} as const satisfies ArgsDef;
