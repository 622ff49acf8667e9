import { UnavailableError } from "../errors/errors.ts";

/**
 * Waits for a promise for a limited time. What it does after that is ignored, its rejection too.
 * @param ms milliseconds; 0 waits for ever
 * @throws UnavailableError (503) when the time is over
 */
export function withDeadline<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  if (ms === 0) return promise;
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new UnavailableError(`${what} took longer than ${ms} ms`)), ms);
    timer.unref();
    promise.then(
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
