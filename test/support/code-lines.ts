import ts from "typescript";

/** Lines of TypeScript that contain at least one token: neither blank nor only a comment. */
export function codeLines(text: string): number {
  const file = ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest);
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node) || node.getWidth(file) === 0) return;
    const children = node.getChildren(file);
    for (const child of children) visit(child);
    if (children.length > 0) return;
    const first = file.getLineAndCharacterOfPosition(node.getStart(file)).line;
    const last = file.getLineAndCharacterOfPosition(node.getEnd()).line;
    for (let line = first; line <= last; line += 1) lines.add(line);
  };
  visit(file);
  return lines.size;
}

/** The text without its import declarations. */
export function withoutImports(text: string): string {
  const file = ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest);
  const imports = file.statements.filter(ts.isImportDeclaration).reverse();
  return imports.reduce((rest, node) => rest.slice(0, node.getStart(file)) + rest.slice(node.getEnd()), text);
}
