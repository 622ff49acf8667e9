/**
 * What is wrong with the shape of a parsed JSON value, as the end of a sentence; undefined when nothing is. Iterative, so
 * that hostile depth cannot overflow the stack; the parser itself is safe.
 * @param maxDepth levels of nesting at most
 */
export function jsonShapeProblem(root: unknown, maxDepth: number): string | undefined {
  if (typeof root !== "object" || root === null) return undefined;
  let level: object[] = [root];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
    const next: object[] = [];
    for (const node of level) {
      if (Object.hasOwn(node, "__proto__")) return 'contains the key "__proto__"';
      for (const child of Object.values(node)) if (typeof child === "object" && child !== null) next.push(child);
    }
    level = next;
  }
  return undefined;
}
