import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { repositoryRoot } from "../../support/source-files.ts";

/**
 * Names that an interface declares itself, in order.
 * @param file below the repository's root
 */
export function membersOf(file: string, name: string): string[] {
  const text = readFileSync(join(repositoryRoot, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = source.statements.find((node) => ts.isInterfaceDeclaration(node) && node.name.text === name);
  if (found === undefined) throw new Error(`${file} has no interface ${name}`);
  const names = (found as ts.InterfaceDeclaration).members.map(
    (member) => (member.name as ts.StringLiteral | ts.Identifier).text,
  );
  return [...new Set(names)];
}

const GATE = "src/gate/gate-plugin.ts";
const KERNEL = "src/kernel/plugin/kernel-plugin.ts";
const both = (own: string, kernels: string): string[] => [
  ...new Set([...membersOf(GATE, own), ...membersOf(KERNEL, kernels)]),
];

/** Parts of plugins, except the kernel's type member that only the gate uses. */
export const pluginOptions = (): string[] =>
  both("PluginOptions", "KernelPluginOptions").filter((one) => one !== "base");

/** Members of a plugin's context. */
export const pluginContext = (): string[] => both("PluginContext", "KernelPluginContext");

/** All hooks. */
export const hookNames = (): string[] => [
  ...new Set([
    ...membersOf("src/gate/operation/hook-map.ts", "HookMap"),
    ...membersOf("src/kernel/hooks/kernel-hooks.ts", "KernelHooks"),
  ]),
];
