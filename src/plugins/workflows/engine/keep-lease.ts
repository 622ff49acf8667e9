import type { OperationScope } from "../../../gate/index.ts";
import { describeError, type Logger } from "../../../kernel/index.ts";
import type { Lease } from "./database-journal.ts";
import { RUN } from "./journal-entities.ts";

/**
 * Renews the lease on a run at intervals. A lease that could not be renewed in time counts as lost even if no process
 * has taken it yet, because one may at any moment. Time is measured by this process's monotonic clock, which cannot be
 * set.
 * @param lost aborted when this process no longer holds the run
 * @returns what to clear when the run has ended
 */
export function keepLease(system: OperationScope, lease: Lease, lost: AbortController, log: Logger): NodeJS.Timeout {
  const { runId, owner, fence, leaseMs } = lease;
  let isRenewing = false;
  lease.confirmedAt ??= performance.now();

  async function renew(): Promise<void> {
    if (performance.now() - (lease.confirmedAt as number) > leaseMs) return lost.abort();
    if (isRenewing) return; // a transaction may have the run's row, or the database's only writer
    isRenewing = true;
    try {
      const asked = performance.now();
      const leaseUntil = new Date(system.now().getTime() + leaseMs);
      const isOurs = (await system.driver.updateMany(RUN, { id: runId, owner, fence }, { leaseUntil })) === 1;
      if (isOurs) lease.confirmedAt = asked;
      else lost.abort();
    } catch (error) {
      log.warn("The lease of a workflow could not be renewed", { runId, ...describeError(error) });
    } finally {
      isRenewing = false;
    }
  }
  return setInterval(() => void renew(), leaseMs / 3);
}
