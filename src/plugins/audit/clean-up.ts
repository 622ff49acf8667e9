import { type Driver, describeError, type Logger } from "../../kernel/index.ts";
import { ENTRY } from "./audit-entry.ts";

const DAY_MS = 86_400_000;
const EVERY_MS = 3_600_000;
/** Entries of one statement: others have to have their turn. */
const PORTION = 1_000;

/** Deletes old entries while the app runs. */
export interface CleanUp {
  stop(): Promise<void>;
}

/**
 * Deletes entries that are older than some days, at once and every hour. Several processes may do so at the same time.
 * @param driver the base driver: nobody deletes entries through another one
 */
export function startCleanUp(driver: Driver, log: Logger, keepDays: number): CleanUp {
  let isStopped = false;
  async function run(): Promise<void> {
    try {
      const where = { at: { lt: new Date(Date.now() - keepDays * DAY_MS) } };
      while (!isStopped) {
        const rows = await driver.findMany(ENTRY, { where, select: ["id"], limit: PORTION });
        if (rows.length === 0) return;
        await driver.deleteMany(ENTRY, { id: { in: rows.map(({ id }) => id) } });
      }
    } catch (error) {
      log.error("Old audit entries could not be deleted", describeError(error));
    }
  }
  let running = run();
  const timer = setInterval(() => {
    running = running.then(run);
  }, EVERY_MS);
  timer.unref();
  return {
    stop() {
      isStopped = true;
      clearInterval(timer);
      return running;
    },
  };
}
