import { restartOnChange } from "../dev/restart-on-change.ts";
import { printBanner, runEntry, SERVER_ARGUMENTS, serveProject } from "../dev/serve-project.ts";
import { lintApp } from "../lint/lint-rules.ts";
import { loadProject } from "../project/load-project.ts";
import { defineCommand } from "../shell/command.ts";

/** `keelson start`: serves in production, without changing tables. */
export const start = defineCommand({
  description: "Serve the API in production; refuses when the database does not fit the entities",
  examples: ["start", "start --port=8080", "start src/server.ts   # a server of your own"],
  args: SERVER_ARGUMENTS,
  async run({ args, output }) {
    if (args.entry !== undefined) {
      await runEntry(args.entry, "production");
      return "serving";
    }
    const project = await loadProject(args.config, "production");
    const { url } = await serveProject(project, args);
    output.line(`Listening on ${url}`);
    return "serving";
  },
});

/** `keelson dev`: serves, changes the tables to match the entities, and restarts when a file changes. */
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
    // A development server is only reachable from this machine by default.
    const served = await serveProject(project, { ...args, host: args.host ?? "localhost" });
    await printBanner(output, project, served);
    const warnings = lintApp(served.app, project.config).filter(({ level }) => level === "warning");
    for (const { at, what } of warnings) output.note(`${output.style("yellow", "warning")}  ${at}: ${what}`);
    if (warnings.length > 0) output.note(output.style("dim", '"keelson lint" says why, and what to do.'));
    return "serving";
  },
});
