import { printBanner } from "../dev/print-banner.ts";
import { restartOnChange } from "../dev/restart-on-change.ts";
import { runEntry } from "../dev/run-entry.ts";
import { serveProject } from "../dev/serve-project.ts";
import { SERVER_ARGUMENTS } from "../dev/server-arguments.ts";
import { lintApp } from "../lint/lint-rules.ts";
import { loadProject } from "../project/load-project.ts";
import { defineCommand } from "../shell/command.ts";

/** `keelson dev`: serves, changes the tables to fit the entities, and starts again when a file changes. */
export const dev = defineCommand({
  description: "Serve the API and keep its tables in step with the entities; start again when a file changes",
  examples: ["dev", "dev --port=8080", "dev src/server.ts   # a server of your own"],
  args: {
    ...SERVER_ARGUMENTS,
    watch: {
      type: "boolean",
      default: true,
      description: "Start again when a file changes",
      negativeDescription: "Serve once",
    },
  },
  async run({ args, output }) {
    if (args.watch) {
      await restartOnChange(
        [...process.execArgv, process.argv[1] as string, ...process.argv.slice(2), "--no-watch"],
        output,
      );
      return 0;
    }
    if (args.entry !== undefined) {
      await runEntry(args.entry, "development");
      return "serving";
    }
    const project = await loadProject(args.config);
    const served = await serveProject(project, args);
    printBanner(output, project, served);
    const warnings = lintApp(served.app, project.config).filter(({ level }) => level === "warning");
    for (const { at, what } of warnings) output.note(`${output.style("yellow", "warning")}  ${at}: ${what}`);
    if (warnings.length > 0) output.note(output.style("dim", '"keelson lint" says why, and what to do.'));
    return "serving";
  },
});
