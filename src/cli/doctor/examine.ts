import { isKeelsonError } from "../../entity/index.ts";
import { lintApp } from "../lint/lint-rules.ts";
import { partsOf } from "../project/app-parts.ts";
import { loadProject } from "../project/load-project.ts";
import type { Project } from "../project/project.ts";
import { withIdleApp } from "../project/with-idle-app.ts";
import { checkCopies } from "./check-copies.ts";
import { checkDatabase } from "./check-database.ts";
import { checkIgnored } from "./check-ignored.ts";
import { checkNode } from "./check-node.ts";
import { checkPackages } from "./check-packages.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** All checks, as far as they can be made: what comes later needs what comes before. */
export async function examine(config: string | undefined): Promise<readonly Diagnosis[]> {
  const found: Diagnosis[] = [checkNode()];
  try {
    const project = await loadProject(config);
    found.push(await checkCopies(project), await checkPackages(project), await checkApp(project));
    found.push(...(await checkIgnored()));
    if (found.every(({ state }) => state !== "bad")) found.push(...(await checkDatabase(project)));
  } catch (error) {
    // A broken configuration is something that was found.
    if (!isKeelsonError(error)) throw error;
    found.push({ check: "Configuration", state: "bad", found: error.message, fix: "Repair what it names" });
  }
  return found;
}

async function checkApp(project: Project): Promise<Diagnosis> {
  const { parts, findings } = await withIdleApp(project, (app) => ({
    parts: partsOf(app),
    findings: lintApp(app, project.config),
  }));
  const warnings = findings.filter(({ level }) => level === "warning").length;
  const found = `${parts.model.entities.length} entities, ${parts.routes.length} routes`;
  if (warnings === 0) return { check: "Configuration", state: "good", found };
  return {
    check: "Configuration",
    state: "doubtful",
    found: `${found}, ${warnings} warnings`,
    fix: "Run: keelson lint",
  };
}
