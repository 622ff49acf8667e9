import { ConfigurationError } from "../../entity/index.ts";
import type { OperationScope } from "../../gate/index.ts";

/**
 * A run has transactions of its own: begun within one, it would wait for what that one holds, and stay when that rolls back.
 * @throws ConfigurationError
 */
export function refuseInTransaction(workflow: string, scope: OperationScope | undefined): void {
  if (scope?.isTransaction === true)
    throw new ConfigurationError(
      `Workflow "${workflow}" cannot be run within a transaction; run it when that has ended`,
    );
}
