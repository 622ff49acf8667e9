import { stripVTControlCharacters } from "node:util";
import { renderUsage } from "citty";
import type { Command } from "./command.ts";
import type { CommandTree } from "./command-tree.ts";
import type { Output } from "./output.ts";

/** Help of all commands, or of those under one word; loads none of them. */
export function treeHelp(output: Output, path: readonly string[], tree: CommandTree, version: string): string {
  const called = ["keelson", ...path].join(" ");
  const width = Math.max(...Object.keys(tree).map((name) => name.length));
  const entries = Object.entries(tree).map(
    ([name, { description }]) => `  ${output.style("cyan", name.padEnd(width))}  ${description}`,
  );
  return [
    `${output.style("bold", called)} ${path.length === 0 ? version : ""}`.trimEnd(),
    "",
    `Usage: ${called} <command> [options]`,
    "",
    ...entries,
    "",
    `"${called} <command> --help" explains a command, with examples.`,
  ].join("\n");
}

/** Help of one command. */
export async function commandHelp(output: Output, path: readonly string[], command: Command): Promise<string> {
  const { description, args, examples } = command;
  const usage = await renderUsage({ meta: { name: ["keelson", ...path].join(" "), description }, args });
  const lines = [
    usage.trimEnd(),
    "",
    output.style("bold", "EXAMPLES"),
    "",
    ...examples.map((line) => `  keelson ${line}`),
  ];
  // The library colours its text whoever reads it.
  const text = lines.join("\n");
  return output.colors ? text : stripVTControlCharacters(text);
}
