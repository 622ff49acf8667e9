import { type Finding, LINT_RULES, lintApp } from "../lint/lint-rules.ts";
import { loadProject } from "../project/load-project.ts";
import { withIdleApp } from "../project/with-idle-app.ts";
import { CONFIG_ARGUMENT, defineCommand, JSON_ARGUMENT } from "../shell/command.ts";
import type { Output } from "../shell/output.ts";

/** `keelson lint`: reports likely mistakes in the definitions. */
export const lint = defineCommand({
  description: "Name what is likely to be a mistake in the definitions; warnings fail. Opens no database",
  examples: ["lint", "lint --json"],
  args: { ...CONFIG_ARGUMENT, ...JSON_ARGUMENT },
  async run({ args, output }) {
    const project = await loadProject(args.config);
    const findings = await withIdleApp(project, (app) => lintApp(app, project.config));
    if (args.json) output.json(findings);
    else print(output, findings);
    return findings.some(({ level }) => level === "warning") ? 1 : 0;
  },
});

/** Prints findings by rule, each rule with its reason and remedy once. */
function print(output: Output, findings: readonly Finding[]): void {
  if (findings.length === 0) output.line("Nothing found.");
  for (const { id, title, why, fix, level } of LINT_RULES) {
    const own = findings.filter((finding) => finding.id === id);
    if (own.length === 0) continue;
    const color = level === "warning" ? "yellow" : "cyan";
    output.line(`${output.style(color, level)}  ${output.style("bold", title)}  ${output.style("dim", id)}`);
    for (const { at, what } of own) output.line(`  ${at}: ${what}`);
    output.line(output.style("dim", `  ${why}`));
    output.line(output.style("dim", `  ${fix}`));
    output.line();
  }
}
