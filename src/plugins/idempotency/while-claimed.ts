import type { OperationScope } from "../../gate/index.ts";
import { describeError } from "../../kernel/index.ts";
import { type Claim, renewKey } from "./claim-key.ts";

/**
 * Runs work while the key is renewed again and again. A renewal that fails ends nothing: keeping the answer asks whose the
 * key is.
 */
export async function whileClaimed<T>(
  scope: OperationScope,
  claim: Claim,
  leaseMs: number,
  work: () => Promise<T>,
): Promise<T> {
  let isRenewing = false;
  const renew = async (): Promise<void> => {
    if (isRenewing) return; // a transaction may have the row, or the database's only writer
    isRenewing = true;
    try {
      await renewKey(scope, claim, leaseMs);
    } catch (error) {
      scope.log.warn("An idempotency key could not be renewed", {
        requestId: scope.requestId,
        ...describeError(error),
      });
    } finally {
      isRenewing = false;
    }
  };
  const beat = setInterval(() => void renew(), Math.max(1, leaseMs / 3));
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}
