import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";

/** A name that a module exports. */
export interface ExportedName {
  readonly name: string;
  readonly isType: boolean;
  /** The file that declares it, behind all re-exports. */
  readonly file: string;
}

/** Every name a module exports, sorted. Re-exports are followed by what they say, without a type checker. */
export function exportedNames(file: string): ExportedName[] {
  return [...namesOf(file).values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const read = new Map<string, ReadonlyMap<string, ExportedName>>();

/** Most files are behind several entry points; each is read once. */
function namesOf(file: string): ReadonlyMap<string, ExportedName> {
  const known = read.get(file) ?? readNames(file);
  read.set(file, known);
  return known;
}

function readNames(file: string): ReadonlyMap<string, ExportedName> {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const found = new Map<string, ExportedName>();
  const add = (name: string, isType: boolean, origin: string) => found.set(name, { name, isType, file: origin });
  for (const node of source.statements) {
    if (ts.isExportDeclaration(node)) {
      const target = node.moduleSpecifier && join(dirname(file), (node.moduleSpecifier as ts.StringLiteral).text);
      const behind = target?.endsWith(".ts") ? namesOf(target) : new Map<string, ExportedName>();
      if (node.exportClause && ts.isNamedExports(node.exportClause))
        for (const { name, propertyName, isTypeOnly } of node.exportClause.elements) {
          const origin = behind.get((propertyName ?? name).text);
          add(name.text, isTypeOnly || node.isTypeOnly || (origin?.isType ?? false), origin?.file ?? target ?? file);
        }
      else for (const { name, isType, file: origin } of behind.values()) add(name, isType, origin);
    } else if (isExported(node)) for (const name of declaredNames(node)) add(name, isTypeDeclaration(node), file);
  }
  return found;
}

function isExported(node: ts.Statement): boolean {
  return (ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined)?.[0]?.kind === ts.SyntaxKind.ExportKeyword;
}

function isTypeDeclaration(node: ts.Statement): boolean {
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
}

function declaredNames(node: ts.Statement): string[] {
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = node as ts.Statement & { readonly name?: ts.Identifier };
  return name === undefined ? [] : [name.text];
}
