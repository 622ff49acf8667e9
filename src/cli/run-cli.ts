import { stripVTControlCharacters } from "node:util";
import { type ArgDef, type ArgsDef, parseArgs, renderUsage } from "citty";
import { COMMANDS, type CommandEntry, type CommandTree } from "./command-tree.ts";
import type { Command, ExitCode } from "./shell/command.ts";
import type { Terminal } from "./shell/output.ts";
import { createOutput, type Output } from "./shell/output.ts";
import { keelsonVersion } from "./shell/package-root.ts";

const HELP = new Set(["--help", "-h"]);
const VERSION = new Set(["--version", "-v"]);

/**
 * Runs a command line and returns the exit code, or "serving" while a server runs. Never throws.
 * @param words the arguments, without the name of the program
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

/** The command that the words of a command line select. */
type FoundCommand =
  | { readonly entry: CommandEntry; readonly path: readonly string[]; readonly rest: readonly string[] }
  | { readonly tree: CommandTree; readonly path: readonly string[] }
  | { readonly unknown: string; readonly tree: CommandTree; readonly path: readonly string[] };

/** Finds the command at the start of a line, or the group at which the line ends. */
export function findCommand(words: readonly string[], tree: CommandTree = COMMANDS): FoundCommand {
  let current = tree;
  const path: string[] = [];
  for (const [index, word] of words.entries()) {
    if (word.startsWith("-")) break;
    const next = Object.hasOwn(current, word) ? current[word] : undefined;
    if (next === undefined) return { unknown: word, tree: current, path };
    path.push(word);
    if ("load" in next) return { entry: next, path, rest: words.slice(index + 1) };
    current = next.entries;
  }
  return { tree: current, path };
}

/** Formats the help of all commands, or of a group, without loading them. */
function treeHelp(output: Output, path: readonly string[], tree: CommandTree, version: string): string {
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

/** Formats the help of one command. */
async function commandHelp(output: Output, path: readonly string[], command: Command): Promise<string> {
  const { description, args, examples } = command;
  const usage = await renderUsage({ meta: { name: ["keelson", ...path].join(" "), description }, args });
  const lines = [
    usage.trimEnd(),
    "",
    output.style("bold", "EXAMPLES"),
    "",
    ...examples.map((line) => `  keelson ${line}`),
  ];
  // The library always adds colors.
  const text = lines.join("\n");
  return output.colors ? text : stripVTControlCharacters(text);
}

/**
 * Checks the arguments of a command; returns the problem as a sentence, or undefined. The parser itself ignores unknown
 * options, but a misspelled `--acept-data-loss` must be reported.
 */
export async function checkArguments(given: readonly string[], args: ArgsDef): Promise<string | undefined> {
  const options = Object.entries(args).filter(([, { type }]) => type !== "positional");
  const positionals = Object.entries(args).filter(([, { type }]) => type === "positional");
  const seen = new Set<string>();
  for (let i = 0; i < given.length; i++) {
    const argument = given[i] as string;
    if (!argument.startsWith("-")) {
      const next = positionals.find(([name]) => !seen.has(name));
      if (next === undefined) return `"${argument}" is one argument too many.`;
      seen.add(next[0]);
      continue;
    }
    const [flag = "", value] = argument.split(/=(.*)/s);
    const [name, definition] = options.find(([one, { type }]) => isFlagOf(flag, one, type)) ?? [];
    if (name === undefined || definition === undefined) {
      const known = [...options.map(([one]) => `--${one}`), "--help"];
      return `There is no option "${flag}".${await suggest(flag, known)}`;
    }
    seen.add(name);
    if (definition.type === "boolean") {
      // The parser treats any other word as true, even `--accept-data-loss=no`.
      if (value === undefined || (flag === `--${name}` && /^(true|false)$/.test(value))) continue;
      return `"${flag}" takes no value; leave out "=${value}".`;
    }
    const next = value ?? given[++i];
    if (next === undefined || next === "" || (value === undefined && next.startsWith("-")))
      return `"${flag}" needs a value: ${usageOf([name, definition])}.`;
    const { options: choices } = definition as { readonly options?: readonly string[] };
    if (choices !== undefined && !choices.includes(next))
      return `"${flag}" is one of ${choices.join(", ")}, not "${next}".${await suggest(next, choices)}`;
  }
  const missing = [...positionals, ...options].filter(([name, { required }]) => required === true && !seen.has(name));
  return missing.length === 0 ? undefined : `It needs ${missing.map(usageOf).join(" ")}.`;
}

function isFlagOf(flag: string, name: string, type: ArgDef["type"]): boolean {
  return flag === `--${name}` || (type === "boolean" && flag === `--no-${name}`);
}

function usageOf([name, { type, valueHint }]: readonly [string, ArgDef]): string {
  return type === "positional" ? `<${name}>` : `--${name}=<${valueHint ?? name}>`;
}

/** Returns ` Did you mean "x"?` or an empty string. The kernel is loaded lazily: help and version do not need it. */
async function suggest(word: string, candidates: readonly string[]): Promise<string> {
  const { didYouMean } = await import("../kernel/index.ts");
  return didYouMean(word, candidates);
}
