import { DEFAULT_LIMITS } from "./limits.ts";

/**
 * What is wrong with the shape of a parsed JSON value, as the end of a sentence; undefined when nothing is. Iterative, so
 * that hostile depth cannot overflow the stack; the parser itself is safe. It stops at the limits: whatever looks at values
 * later takes time for each of them.
 * @param maxDepth levels of nesting at most
 * @param maxValues members of objects and items of lists at most, all together
 */
export function jsonShapeProblem(
  root: unknown,
  maxDepth: number,
  maxValues: number = DEFAULT_LIMITS.jsonValues,
): string | undefined {
  if (typeof root !== "object" || root === null) return undefined;
  let values = 0;
  let level: object[] = [root];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
    const next: object[] = [];
    for (const node of level) {
      if (Object.hasOwn(node, "__proto__")) return 'contains the key "__proto__"';
      const children: readonly unknown[] = Array.isArray(node) ? node : Object.values(node);
      values += children.length;
      if (values > maxValues) return `has more than ${maxValues} values`;
      for (const child of children) if (typeof child === "object" && child !== null) next.push(child);
    }
    level = next;
  }
  return undefined;
}
