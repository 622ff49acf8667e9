import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { repositoryRoot } from "./source-files.ts";

interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Files that each file imports, types included. */
function importsOf(files: readonly SourceFile[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    files.map(({ path, text }) => {
      const { importedFiles } = ts.preProcessFile(text);
      const own = importedFiles.map(({ fileName }) => fileName).filter((name) => name.startsWith("."));
      return [path, own.map((name) => relative(repositoryRoot, join(repositoryRoot, dirname(path), name)))];
    }),
  );
}

/** Groups of folders that import each other in a circle, types included. A folder and one inside it are two folders. */
export function folderCircles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const graph = new Map<string, Set<string>>();
  for (const [path, imported] of importsOf(files))
    for (const other of imported) {
      const [from, to] = [dirname(path), dirname(other)];
      const targets = graph.get(from) ?? new Set();
      graph.set(from, targets);
      if (from !== to) targets.add(to);
    }
  return stronglyConnected(graph).filter((group) => group.length > 1);
}

/** Tarjan's algorithm. */
function stronglyConnected(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const found: string[][] = [];
  const numbers = new Map<string, { index: number; low: number }>();
  const stack: string[] = [];
  const visit = (node: string): { index: number; low: number } => {
    const own = { index: numbers.size, low: numbers.size };
    numbers.set(node, own);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      const known = numbers.get(next);
      if (known === undefined) own.low = Math.min(own.low, visit(next).low);
      else if (stack.includes(next)) own.low = Math.min(own.low, known.index);
    }
    if (own.low === own.index) found.push(stack.splice(stack.indexOf(node)));
    return own;
  };
  for (const node of graph.keys()) if (!numbers.has(node)) visit(node);
  return found;
}
