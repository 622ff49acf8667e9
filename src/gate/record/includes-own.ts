import type { Operation } from "../operation/operation.ts";

/**
 * Whether an answer brings related records of the app's own, which may be refused for being too many. What services
 * are asked for comes to null at worst, and nobody's transaction should wait for it.
 */
export function includesOwn({ entity, query }: Pick<Operation, "entity" | "query">): boolean {
  return Object.keys(query.include ?? {}).some((name) => entity.relations[name]?.remote?.service === undefined);
}
