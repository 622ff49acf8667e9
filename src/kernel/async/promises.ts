import { UnavailableError } from "../errors/errors.ts";

/** The longest delay of a timer; a longer one would fire immediately. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Waits for a promise for a limited time. A later result or rejection is ignored.
 * @param ms milliseconds; 0 waits indefinitely
 * @throws UnavailableError (503) on timeout
 */
export function withDeadline<T>(promise: PromiseLike<T>, ms: number, what: string): Promise<T> {
  const pending = Promise.resolve(promise);
  if (ms === 0) return pending;
  return new Promise<T>((resolve, reject) => {
    const late = (): void => reject(new UnavailableError(`${what} took longer than ${ms} ms`));
    const timer = setTimeout(late, Math.min(ms, LONGEST_MS)); // keeps the process alive until the deadline
    pending.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** Whether a value is thenable. Promises of ORMs, such as PrismaPromise, are not instances of Promise. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as PromiseLike<unknown>).then === "function";
}

/** Runs tasks one at a time, in call order; a failure does not stop later tasks. */
export type SerialQueue = <T>(work: () => T | Promise<T>) => Promise<T>;

/** A new, empty queue. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => T | Promise<T>): Promise<T> => {
    const next = last.then(work);
    last = next.catch(() => undefined); // the caller of `next` handles the failure
    return next;
  };
}
