import { isKeelsonError } from "../../entity/index.ts";
import type { Project } from "../project/project.ts";
import { withDriver } from "../project/with-driver.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Whether the database answers, and fits the entities. */
export async function checkDatabase(project: Project): Promise<readonly Diagnosis[]> {
  try {
    return await withDriver(project, async ({ driver }) => {
      await driver.ping();
      const answers: Diagnosis = { check: "Database", state: "good", found: `${driver.name} answers` };
      if (driver.schema === undefined) return [answers];
      const differences = await driver.schema.pending();
      if (differences.length === 0)
        return [answers, { check: "Tables", state: "good", found: "they fit the entities" }];
      const found = `${differences.length} differences: ${differences.slice(0, 3).join("; ")}${differences.length > 3 ? "; …" : ""}`;
      return [
        answers,
        { check: "Tables", state: "doubtful", found, fix: "Run: keelson dev, keelson db push or keelson migrate dev" },
      ];
    });
  } catch (error) {
    if (!isKeelsonError(error)) throw error;
    return [{ check: "Database", state: "bad", found: error.message, fix: "Check that it runs, and its address" }];
  }
}
