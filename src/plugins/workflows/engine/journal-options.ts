import { ConfigurationError } from "../../../entity/index.ts";
import type { SagaRuntime } from "../saga/saga-runtime.ts";

/** Options of the engine that keeps a journal in the app's database. */
export interface JournalOptions {
  /**
   * Milliseconds after which a process that says nothing has lost its runs: how long they wait when it dies, its own ones
   * after a restart, too. More than the longest transaction of a step, and more than the clocks of two machines differ: leases
   * are written and read in the app's time. @default 30000
   */
  readonly leaseMs?: number | undefined;
  /** Milliseconds between looks for runs that were left behind. @default 10000 */
  readonly recoveryMs?: number | undefined;
  /** Runs taken up at the same time. @default 4 */
  readonly concurrency?: number | undefined;
  /** Take-overs after which a run needs attention: one that kills its process is not begun for ever. @default 100 */
  readonly maxRecoveries?: number | undefined;
  /** Called with each point that a run reaches. @default none */
  readonly reached?: SagaRuntime["reached"] | undefined;
}

/** The options in whole. @throws ConfigurationError for numbers below 1 */
export function completeJournalOptions(options: JournalOptions) {
  const { leaseMs = 30_000, recoveryMs = 10_000, concurrency = 4, maxRecoveries = 100, reached } = options;
  const numbers = { leaseMs, recoveryMs, concurrency, maxRecoveries };
  for (const [name, value] of Object.entries(numbers))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new ConfigurationError(`The journal of workflows: ${name} must be a whole number from 1`);
  return { ...numbers, reached };
}
