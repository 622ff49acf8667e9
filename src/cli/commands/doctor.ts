import { examine } from "../doctor/examine.ts";
import { CONFIG_ARGUMENT, defineCommand, JSON_ARGUMENT } from "../shell/command.ts";

const COLORS = { good: "green", doubtful: "yellow", bad: "red" } as const;

/** `keelson doctor`: checks that everything the app needs is available. */
export const doctor = defineCommand({
  description: "Check Node.js, packages, configuration, secrets and database; changes no table",
  examples: ["doctor", "doctor --json"],
  args: { ...CONFIG_ARGUMENT, ...JSON_ARGUMENT },
  async run({ args, output }) {
    const findings = await examine(args.config);
    if (args.json) output.json(findings);
    else
      for (const { check, state, found, fix } of findings) {
        output.line(`${output.style(COLORS[state], state.padEnd(8))}  ${check.padEnd(13)}  ${found}`);
        if (fix !== undefined) output.line(output.style("dim", `${" ".repeat(25)}${fix}`));
      }
    return findings.some(({ state }) => state === "bad") ? 1 : 0;
  },
});
