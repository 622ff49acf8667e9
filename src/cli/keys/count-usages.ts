import type { KeyUsage } from "../../index.ts";
import type { Project } from "../project/project.ts";
import { withTables } from "./with-tables.ts";

/** How many stored values each key has, by entity and field. Reads every row. */
export function countUsages(project: Project): Promise<KeyUsage[]> {
  return withTables(project, ({ driver, model }) => project.library.countValuesPerKey(driver, model.entities));
}
