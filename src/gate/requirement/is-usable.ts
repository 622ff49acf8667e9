import { isKeelsonError } from "../../entity/index.ts";
import type { EntityRef } from "../condition/condition.ts";
import type { OperationInput, OperationQuery } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { RecordUse } from "../operation/shown-records.ts";

/** A stored `RecordUse`, whose entity may be a name. */
export type Use = Omit<RecordUse, "entity"> & { readonly entity: EntityRef };

/** Whether the caller of a scope may currently use an action, on its record if it has one. */
export async function isUsable(scope: OperationScope, use: Use): Promise<boolean> {
  const { entity, id, kind = "list", access, rules, forSome, deleted } = use;
  if (id !== undefined)
    return findsRecord(scope, { kind: "read", entity, id, access, rules, query: { deleted }, ifFound: true });
  try {
    const decision = await scope.access.decide({ kind, entity, access, rules });
    return forSome === true || decision.forSome !== true;
  } catch (error) {
    if (isKeelsonError(error) && (error.status === 401 || error.status === 403 || error.status === 404)) return false;
    throw error;
  }
}

/** Searches for one record, by a list or by its id. */
interface Search extends OperationInput {
  readonly kind: "list" | "read";
  readonly query: OperationQuery;
}

const NOT_FOUND: ReadonlySet<number> = new Set([401, 403, 404]);

/** Whether a record exists for the caller of a scope; false for a hidden record as for a missing one. */
export async function findsRecord(scope: OperationScope, search: Search): Promise<boolean> {
  const query = { ...search.query, select: ["id"], ...(search.kind === "list" ? { limit: 1 } : {}) };
  try {
    return (await scope.run({ ...search, query })).records.length > 0;
  } catch (error) {
    if (isKeelsonError(error) && NOT_FOUND.has(error.status)) return false;
    throw error;
  }
}
