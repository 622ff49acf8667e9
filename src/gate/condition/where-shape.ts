import { BadRequestError } from "../../kernel/index.ts";

/**
 * Maximum nesting depth of a `where`, since the functions that walk it are recursive. Rules and positions add a few
 * levels to the caller's.
 */
export const WHERE_DEPTH = 64;

/**
 * Refuses a `where` that is nested too deeply or has too many conditions, before any recursive function walks it.
 * @param most the maximum number of objects and list items in total
 * @throws BadRequestError
 */
export function checkWhereShape(where: unknown, most: number): void {
  let level: readonly unknown[] = [where];
  let count = 0;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > WHERE_DEPTH) throw new BadRequestError(`A query is nested at most ${WHERE_DEPTH} levels deep`);
    const next: unknown[] = [];
    for (const node of level) {
      if (typeof node !== "object" || node === null || node instanceof Date) continue;
      const children: readonly unknown[] = Array.isArray(node) ? node : Object.values(node);
      count += children.length;
      if (count > most) throw new BadRequestError("A query has too many conditions and values");
      for (const child of children) next.push(child);
    }
    level = next;
  }
}
