import { parseArgs } from "citty";
import { checkArguments } from "./check-arguments.ts";
import type { ExitCode } from "./command.ts";
import { findCommand } from "./find-command.ts";
import { commandHelp, treeHelp } from "./help.ts";
import { createOutput } from "./output.ts";
import { keelsonVersion } from "./package-root.ts";
import { suggest } from "./suggest.ts";
import type { Terminal } from "./terminal.ts";

const HELP = new Set(["--help", "-h"]);
const VERSION = new Set(["--version", "-v"]);

/**
 * Runs a command line, and tells the exit code, or "serving" when a server goes on. Never throws.
 * @param words as given, without the name of the program
 */
export async function runCli(words: readonly string[], terminal: Terminal): Promise<ExitCode | "serving"> {
  const output = createOutput(terminal);
  const found = findCommand(words);
  const wantsHelp = words.some((word) => HELP.has(word));
  if ("unknown" in found) {
    const called = ["keelson", ...found.path, found.unknown].join(" ");
    const hint = await suggest(found.unknown, Object.keys(found.tree));
    output.error(
      `There is no command "${called}".${hint}\n\n${treeHelp(output, found.path, found.tree, keelsonVersion())}`,
    );
    return 2;
  }
  if ("tree" in found) {
    if (words.length === 1 && VERSION.has(words[0] as string)) {
      output.line(keelsonVersion());
      return 0;
    }
    const help = treeHelp(output, found.path, found.tree, keelsonVersion());
    const stray = words.slice(found.path.length).find((word) => !HELP.has(word));
    if (stray !== undefined) {
      output.error(`There is no option "${stray}".\n\n${help}`);
      return 2;
    }
    output.line(help);
    return wantsHelp ? 0 : 2;
  }
  const { entry, path, rest } = found;
  const command = await entry.load();
  if (wantsHelp) {
    output.line(await commandHelp(output, path, command));
    return 0;
  }
  const problem = await checkArguments(rest, command.args);
  if (problem !== undefined) {
    output.error(`${problem}\n"keelson ${path.join(" ")} --help" lists what there is.`);
    return 2;
  }
  try {
    return await command.run({ args: parseArgs([...rest], command.args), terminal, output });
  } catch (error) {
    const { reportFailure } = await import("./report-failure.ts");
    reportFailure(output, error);
    return 1;
  }
}
