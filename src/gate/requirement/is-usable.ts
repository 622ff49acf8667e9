import { isKeelsonError } from "../../entity/index.ts";
import type { EntityRef } from "../condition/where.ts";
import type { OperationScope } from "../operation/operation-scope.ts";
import type { RecordUse } from "../operation/shown-records.ts";
import { findsRecord } from "./finds-record.ts";

/** What an action was allowed for, as it is kept: its entity may be a name. */
export type Use = Omit<RecordUse, "entity"> & { readonly entity: EntityRef };

/** Whether the caller of a scope may use an action now, of its record where it is about one. */
export async function isUsable(scope: OperationScope, use: Use): Promise<boolean> {
  const { entity, id, kind = "list", access, rules, forSome } = use;
  if (id !== undefined)
    return findsRecord(scope, { kind: "read", entity, id, access, rules, query: {}, ifFound: true });
  try {
    const decision = await scope.decide({ kind, entity, access, rules });
    return forSome === true || decision.forSome !== true;
  } catch (error) {
    if (isKeelsonError(error) && (error.status === 401 || error.status === 403 || error.status === 404)) return false;
    throw error;
  }
}
