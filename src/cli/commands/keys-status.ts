import { countUsages } from "../keys/count-usages.ts";
import { keyIdsOf } from "../keys/key-ids-of.ts";
import { loadProject } from "../project/load-project.ts";
import { defineCommand } from "../shell/command.ts";
import { CONFIG_ARGUMENT, JSON_ARGUMENT } from "../shell/shared-arguments.ts";

/** `keelson keys status`: which key has how many stored values. */
export const keysStatus = defineCommand({
  description: "Count the stored values of each key; fails when some have a key that is not configured",
  examples: ["keys status", "keys status --json"],
  args: { ...CONFIG_ARGUMENT, ...JSON_ARGUMENT },
  async run({ args, output }) {
    const project = await loadProject(args.config);
    const known = keyIdsOf(project);
    const usages = (await countUsages(project)).map((usage) => ({
      ...usage,
      state: stateOf(usage.keyId, known),
    }));
    if (args.json) output.json({ keys: known, usages });
    else if (usages.length === 0) output.line("There are no encrypted values.");
    else
      output.table({
        headings: ["ENTITY", "FIELD", "KEY", "STATE", "VALUES"],
        rows: usages.map(({ entity, field, keyId, state, values }) => [
          entity,
          field,
          keyId ?? "(none)",
          state,
          String(values),
        ]),
      });
    return usages.some(({ state }) => state === "missing") ? 1 : 0;
  },
});

/** "any": the value names no key, and every one is tried. */
function stateOf(keyId: string | null, known: readonly string[]): "primary" | "old" | "missing" | "any" {
  if (keyId === null) return "any";
  if (keyId === known[0]) return "primary";
  return known.includes(keyId) ? "old" : "missing";
}
