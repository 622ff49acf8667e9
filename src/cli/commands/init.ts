import { basename, resolve } from "node:path";
import { kebabCase } from "../../kernel/index.ts";
import { chooseHost, chooseLogins, HOST_NAMES, LOGINS_NAMES, scaffold } from "../init/scaffold.ts";
import { defineCommand } from "../shell/command.ts";

/** `keelson init`: creates a working project with tests in an empty folder. */
export const init = defineCommand({
  description: "Write a project with entities, tests and a server into an empty folder; installs nothing",
  examples: ["init", "init shop --host=express", "init --host=next --logins=better-auth --name=shop"],
  args: {
    folder: { type: "positional", description: "Default: this one", required: false },
    host: { type: "enum", options: [...HOST_NAMES], description: "What serves the API. Default: asks, or node" },
    logins: { type: "enum", options: [...LOGINS_NAMES], description: "How users log in. Default: asks, or tokens" },
    name: { type: "string", description: "The project's name. Default: the folder's", valueHint: "name" },
  },
  async run({ args, output, terminal }) {
    const folder = args.folder ?? ".";
    const name = kebabCase(args.name ?? basename(resolve(folder))) || "api";
    const host = args.host ?? (await chooseHost(terminal));
    if (host === undefined) return 1;
    const logins = args.logins ?? (await chooseLogins(terminal));
    if (logins === undefined) return 1;
    const files = await scaffold(folder, name, { host, logins });
    output.line(`${name}: ${files.length} files written.\n`);
    if (folder !== ".") output.line(`  cd ${folder}`);
    output.line("  npm install && npm test");
    output.line("  npm run dev");
    return 0;
  },
});
