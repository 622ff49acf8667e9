import { findWidened, matrixTable, type Widening } from "../access/access-matrix.ts";
import { createMatrix } from "../access/create-matrix.ts";
import { readMatrix } from "../access/read-matrix.ts";
import { loadProject } from "../project/load-project.ts";
import { lookAt } from "../project/with-idle-app.ts";
import { CONFIG_ARGUMENT, defineCommand, type ExitCode, JSON_ARGUMENT } from "../shell/command.ts";
import type { Output } from "../shell/output.ts";

/** `keelson access`: shows the permissions, from the definitions only. */
export const access = defineCommand({
  description: "Show who may do what: role by entity, operation and field. Opens no database",
  examples: ["access", "access --json > access.json", "access --diff=access.json"],
  args: {
    ...CONFIG_ARGUMENT,
    ...JSON_ARGUMENT,
    diff: { type: "string", description: "Fail when more is allowed than in this file", valueHint: "file" },
  },
  async run({ args, output }) {
    const project = await loadProject(args.config);
    const parts = await lookAt(project);
    const matrix = createMatrix(parts, project.config);
    if (args.diff !== undefined)
      return reportWidened(output, findWidened(await readMatrix(args.diff), matrix), args.json === true);
    const operations = parts.routes.filter(({ plugin }) => plugin === "crud");
    const paths = new Set(operations.map(({ method, path }) => `${method} ${path}`));
    if (args.json) output.json(matrix);
    else output.table(matrixTable(matrix, (path) => paths.has(path)));
    return 0;
  },
});

function reportWidened(output: Output, widened: readonly Widening[], json: boolean): ExitCode {
  if (json) output.json(widened);
  else if (widened.length === 0) output.line("No role may do more than before.");
  else
    output.table({
      headings: ["WHAT", "ROLE", "BEFORE", "NOW"],
      rows: widened.map(({ what, role, before, after }) => [what, role, before, after]),
    });
  return widened.length === 0 ? 0 : 1;
}
