import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { toPrismaSchema } from "../../drivers/prisma/index.ts";
import { ConfigurationError } from "../../entity/index.ts";
import { generateClient } from "../database/generate-client.ts";
import { providerOf } from "../database/resolve-target.ts";
import { loadProject } from "../project/load-project.ts";
import { lookAt } from "../project/with-idle-app.ts";
import { CONFIG_ARGUMENT, defineCommand } from "../shell/command.ts";

/** `keelson generate`: writes the Prisma schema of the entities, and generates Prisma's client for it. */
export const generate = defineCommand({
  description: "Write the Prisma schema of the entities, those of plugins included. Opens no database",
  examples: [
    "generate",
    "generate --provider=mysql --client",
    "generate --check   # in CI: fails when it is out of date",
  ],
  args: {
    ...CONFIG_ARGUMENT,
    provider: { type: "enum", options: ["sqlite", "postgresql", "mysql"], description: "Default: the driver's" },
    output: { type: "string", description: "The schema's file", default: "prisma/schema.prisma", valueHint: "path" },
    client: { type: "boolean", description: "Run prisma generate afterwards" },
    check: { type: "boolean", description: "Write nothing; fail when the file is out of date" },
  },
  async run({ args, output }) {
    const project = await loadProject(args.config);
    const provider = args.provider ?? providerOf(project);
    if (provider === undefined)
      throw new ConfigurationError(
        "The driver does not report its database. Pass --provider=sqlite, postgresql or mysql",
      );
    const { model } = await lookAt(project);
    const schema = toPrismaSchema(model, { provider });
    const existing = await readFile(args.output, "utf8").catch(() => undefined);
    if (args.check) {
      if (existing === schema) return 0;
      output.error(`${args.output} is out of date. Run: keelson generate`);
      return 1;
    }
    if (existing !== schema) {
      await mkdir(dirname(args.output), { recursive: true });
      await writeFile(args.output, schema);
    }
    output.line(`${existing === schema ? "Up to date" : "Written"}: ${args.output}`);
    if (args.client) await generateClient(args.output);
    return 0;
  },
});
