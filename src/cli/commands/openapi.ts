import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { loadProject } from "../project/load-project.ts";
import { withIdleApp } from "../project/with-idle-app.ts";
import { defineCommand } from "../shell/command.ts";
import { CONFIG_ARGUMENT } from "../shell/shared-arguments.ts";

/** `keelson openapi`: the OpenAPI document of the app, for clients and other tools. */
export const openapi = defineCommand({
  description: "Print the OpenAPI document, or write it to a file. Opens no database",
  examples: ["openapi", "openapi --output=openapi.json", "openapi --as=public   # what callers without a name may use"],
  args: {
    ...CONFIG_ARGUMENT,
    as: {
      type: "enum",
      options: ["public", "system"],
      default: "system",
      description: "For nobody in particular, or with all that the rules let anybody do",
    },
    output: { type: "string", description: "The document's file. Default: standard output", valueHint: "path" },
  },
  async run({ args, output }) {
    const project = await loadProject(args.config);
    const { as, output: file } = args;
    const document = await withIdleApp(project, (app) => project.library.openapiDocument(app, { as }));
    if (file === undefined) {
      output.json(document);
      return 0;
    }
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${JSON.stringify(document, null, 2)}\n`);
    output.line(`Written: ${file}`);
    return 0;
  },
});
