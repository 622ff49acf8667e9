import type { MutableOperation } from "./new-operation.ts";
import type { GateScope } from "./runtime.ts";

/** Runs work with the operation's scope replaced by a transaction's. */
export async function inTransaction<T>(operation: MutableOperation, work: () => Promise<T>): Promise<T> {
  const { scope } = operation;
  try {
    return await scope.transaction((inner) => {
      operation.scope = inner as GateScope;
      return work();
    });
  } finally {
    operation.scope = scope;
  }
}
