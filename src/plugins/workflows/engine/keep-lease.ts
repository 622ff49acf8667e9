import { describeError, type Logger, type OperationScope } from "../../../kernel/index.ts";
import type { Lease } from "./database-journal.ts";
import { RUN } from "./journal-entities.ts";

/**
 * Renews the hold on a run again and again. A hold that could not be renewed in time is lost even if nobody has taken it:
 * somebody may at any moment. Time passes by this process's own clock, which nobody sets.
 * @param lost aborted when the run is this process's no more
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
