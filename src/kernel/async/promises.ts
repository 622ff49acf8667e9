import { UnavailableError } from "../errors/errors.ts";

/** The longest a timer can wait; beyond it, it would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Waits for a promise for a limited time. Its later result is ignored, and so is a rejection.
 * @param ms milliseconds; 0 waits for ever
 * @throws UnavailableError (503) when the time is over
 */
export function withDeadline<T>(promise: PromiseLike<T>, ms: number, what: string): Promise<T> {
  const pending = Promise.resolve(promise);
  if (ms === 0) return pending;
  return new Promise<T>((resolve, reject) => {
    const late = (): void => reject(new UnavailableError(`${what} took longer than ${ms} ms`));
    const timer = setTimeout(late, Math.min(ms, LONGEST_MS)); // keeps the process alive, so that it hears of it
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

/** Whether a value can be waited for. Promises of ORMs, such as PrismaPromise, are not instances of Promise. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as PromiseLike<unknown>).then === "function";
}

/** Runs tasks one after the other, in the order of the calls; a failure does not stop the next. */
export type SerialQueue = <T>(work: () => T | Promise<T>) => Promise<T>;

/** A new, empty queue. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => T | Promise<T>): Promise<T> => {
    const next = last.then(work);
    last = next.catch(() => undefined); // the caller of `next` sees the failure
    return next;
  };
}
