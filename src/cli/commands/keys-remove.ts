import { ConfigurationError } from "../../entity/index.ts";
import { didYouMean } from "../../kernel/index.ts";
import { countUsages } from "../keys/count-usages.ts";
import { keyIdsOf } from "../keys/key-ids-of.ts";
import { loadProject } from "../project/load-project.ts";
import { defineCommand } from "../shell/command.ts";
import { CONFIG_ARGUMENT } from "../shell/shared-arguments.ts";

/**
 * `keelson keys remove`: refuses while a stored value needs the key. Keys live where the
 * configuration takes them from, which Keelson does not write to, so the developer removes it.
 */
export const keysRemove = defineCommand({
  description: "Tell whether a key can be taken out of the configuration; fails while a stored value needs it",
  examples: ["keys remove v1"],
  args: {
    id: { type: "positional", description: "Id of the key", required: true },
    ...CONFIG_ARGUMENT,
  },
  async run({ args, output }) {
    const project = await loadProject(args.config);
    const known = keyIdsOf(project);
    if (!known.includes(args.id))
      throw new ConfigurationError(`There is no key "${args.id}" in the configuration.${didYouMean(args.id, known)}`);
    if (args.id === known[0])
      throw new ConfigurationError(
        `"${args.id}" is the key that encrypts. Put another one before it, then run: keelson keys rotate`,
      );
    const needing = project.library.valuesNeeding(args.id, await countUsages(project));
    if (needing > 0)
      throw new ConfigurationError(
        `${needing} stored values may need the key "${args.id}"; without it they cannot be read. Run: keelson keys rotate`,
      );
    output.line(`No stored value needs the key "${args.id}". Take it out of the configuration, and deploy.`);
    return 0;
  },
});
