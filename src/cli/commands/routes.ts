import { loadProject } from "../project/load-project.ts";
import { lookAt } from "../project/with-idle-app.ts";
import { CONFIG_ARGUMENT, defineCommand, JSON_ARGUMENT } from "../shell/command.ts";

/** `keelson routes`: lists every route with its rules. */
export const routes = defineCommand({
  description: "List every route with the rules that decide, any of which passes. Opens no database",
  examples: ["routes", "routes --json"],
  args: { ...CONFIG_ARGUMENT, ...JSON_ARGUMENT },
  async run({ args, output }) {
    const { routes: list } = await lookAt(await loadProject(args.config));
    if (args.json) {
      output.json(list);
      return 0;
    }
    output.table({
      headings: ["METHOD", "PATH", "ACTION", "RULES", "PLUGIN"],
      rows: list.map(({ method, path, action, rules, plugin }) => [
        method,
        path,
        action,
        rules.join(" or ") || "no caller",
        plugin,
      ]),
    });
    return 0;
  },
});
