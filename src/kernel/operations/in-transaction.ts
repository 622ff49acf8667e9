import type { MutableOperation } from "./new-operation.ts";
import type { RequestScope } from "./request-scope.ts";

/** Runs work with the operation's scope replaced by a transaction's. */
export async function inTransaction(operation: MutableOperation, work: () => Promise<void>): Promise<void> {
  const { scope } = operation;
  try {
    await scope.transaction(async (inner) => {
      operation.scope = inner as RequestScope;
      await work();
    });
  } finally {
    operation.scope = scope;
  }
}
