import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { repositoryRoot } from "../../support/source-files.ts";

/**
 * Names that an interface declares itself, in their order.
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
