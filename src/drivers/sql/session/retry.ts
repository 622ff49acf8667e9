import { setTimeout as wait } from "node:timers/promises";

/** Milliseconds before each new attempt, the less certain the longer; a little chance keeps rivals apart. */
export const CONFLICT_DELAYS: readonly number[] = [5, 20, 60];
/** Another process that writes to the same SQLite file is waited for about five seconds. */
export const BUSY_DELAYS: readonly number[] = [5, 10, 20, 50, 100, ...Array<number>(18).fill(250)];

/**
 * Does work again while it fails with errors that pass by themselves.
 * @param delaysFor The delays for an error, or undefined when another attempt is pointless
 */
export async function withRetries<T>(
  work: () => Promise<T>,
  delaysFor: (error: unknown) => readonly number[] | undefined,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const delay = delaysFor(error)?.[attempt];
      if (delay === undefined) throw error;
      await wait(delay * (0.5 + Math.random()));
    }
  }
}
