import type { Operation } from "../operation/operation.ts";

/**
 * Whether an answer brings related records of the app's own, which may be refused for being too many. Records of remote
 * services are null at worst, and no transaction should stay open while they are fetched.
 */
export function includesOwn({ entity, query }: Pick<Operation, "entity" | "query">): boolean {
  return Object.keys(query.include ?? {}).some((name) => entity.relations[name]?.remote?.service === undefined);
}
