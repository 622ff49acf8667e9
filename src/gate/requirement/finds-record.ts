import { isKeelsonError } from "../../entity/index.ts";
import type { OperationInput, OperationQuery } from "../operation/operation.ts";
import type { OperationScope } from "../operation/operation-scope.ts";

/** Asks for one record, by a list or by its id. */
interface Search extends OperationInput {
  readonly kind: "list" | "read";
  readonly query: OperationQuery;
}

const NOT_FOUND: ReadonlySet<number> = new Set([401, 403, 404]);

/** Whether a record is there for the caller of a scope: one that is hidden answers exactly like one that is missing. */
export async function findsRecord(scope: OperationScope, search: Search): Promise<boolean> {
  const query = { ...search.query, select: ["id"], ...(search.kind === "list" ? { limit: 1 } : {}) };
  try {
    return (await scope.run({ ...search, query })).records.length > 0;
  } catch (error) {
    if (isKeelsonError(error) && NOT_FOUND.has(error.status)) return false;
    throw error;
  }
}
