import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Keelson } from "../../index.ts";
import { importFromProject, loadProject } from "../project/load-project.ts";
import { withIdleApp } from "../project/with-idle-app.ts";
import { CONFIG_ARGUMENT, defineCommand } from "../shell/command.ts";

/** The part of `keelson/openapi` that the command uses. */
interface OpenApi {
  openapiDocument(app: Keelson, options: { readonly as: "public" | "system" }): Promise<unknown>;
}

/** `keelson openapi`: prints the OpenAPI document of the app, for clients and other tools. */
export const openapi = defineCommand({
  description: "Print the OpenAPI document, or write it to a file. Opens no database",
  examples: ["openapi", "openapi --output=openapi.json", "openapi --as=public   # what anonymous callers may use"],
  args: {
    ...CONFIG_ARGUMENT,
    as: {
      type: "enum",
      options: ["public", "system"],
      default: "system",
      description: "For an anonymous caller, or with everything that the rules allow any caller",
    },
    output: { type: "string", description: "The document's file. Default: standard output", valueHint: "path" },
  },
  async run({ args, output }) {
    const project = await loadProject(args.config);
    const { as, output: file } = args;
    const { openapiDocument } = await importFromProject<OpenApi>(project.file, "keelson/openapi");
    const document = await withIdleApp(project, (app) => openapiDocument(app, { as }));
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
