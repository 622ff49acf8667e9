import type { Project } from "../project/project.ts";
import type { Output } from "../shell/output.ts";
import { keelsonVersion } from "../shell/package-root.ts";
import type { ServedProject } from "./serve-project.ts";

/** What a person needs to go on: address, routes, database, and where to read more. */
export function printBanner(output: Output, { config }: Project, { app, url }: ServedProject): void {
  const docs = app.routes.find(({ action, plugin }) => action === "docs" && plugin === "openapi");
  const first = app.routes.find(({ method, entity }) => method === "GET" && entity !== undefined);
  const rows = {
    API: `${url}${app.apiPrefix}  (${app.routes.length} routes; "keelson routes" lists them)`,
    Database: config.driver === undefined ? ".keelson/app.db (SQLite)" : config.driver.name,
    Docs: docs === undefined ? "node_modules/keelson/README.md" : `${url}${docs.path}`,
  };
  output.line(output.style("bold", `Keelson ${keelsonVersion()}`));
  for (const [name, text] of Object.entries(rows)) output.line(`  ${output.style("dim", name.padEnd(8))}  ${text}`);
  if (first !== undefined) output.line(`  ${output.style("dim", "Try".padEnd(8))}  curl ${url}${first.path}`);
}
