import type { MutableOperation } from "./new-operation.ts";
import type { RequestScope } from "./request-scope.ts";

/** Runs work with the operation's scope replaced by a transaction's. */
export async function inTransaction<T>(operation: MutableOperation, work: () => Promise<T>): Promise<T> {
  const { scope } = operation;
  try {
    return await scope.transaction((inner) => {
      operation.scope = inner as RequestScope;
      return work();
    });
  } finally {
    operation.scope = scope;
  }
}
