import { runEntry } from "../dev/run-entry.ts";
import { serveProject } from "../dev/serve-project.ts";
import { SERVER_ARGUMENTS } from "../dev/server-arguments.ts";
import { loadProject } from "../project/load-project.ts";
import { defineCommand } from "../shell/command.ts";

/** `keelson start`: serves in production, where no table is changed. */
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
