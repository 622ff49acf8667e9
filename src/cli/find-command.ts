import { COMMANDS, type CommandEntry, type CommandTree } from "./command-tree.ts";

/** What the words of a command line mean. */
export type FoundCommand =
  | { readonly entry: CommandEntry; readonly path: readonly string[]; readonly rest: readonly string[] }
  | { readonly tree: CommandTree; readonly path: readonly string[] }
  | { readonly unknown: string; readonly tree: CommandTree; readonly path: readonly string[] };

/** The command that a line begins with, or the group it stops in. */
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
