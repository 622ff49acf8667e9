import { RemoteFailure } from "./failures.ts";

/** The longest a timer can wait; beyond it, it would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The time that some work has, all parts of it together. */
export interface Deadline {
  /** Aborted when it is over. */
  readonly signal: AbortSignal;
  /** Why it is over; undefined while it is not. */
  readonly failure: RemoteFailure | undefined;
  /**
   * The result of a promise. A result or rejection that comes later is ignored.
   * @throws RemoteFailure when the deadline passes first
   */
  within<T>(work: PromiseLike<T>): Promise<T>;
  /** Stops the clock: the work is done. */
  end(): void;
  /** Ends the deadline early, when pending work is no longer needed. */
  abandon(): void;
}

/**
 * A deadline that begins now.
 * @param ms milliseconds
 * @param caller aborted when the caller has gone
 */
export function createDeadline(ms: number, caller?: AbortSignal): Deadline {
  const controller = new AbortController();
  let failure: RemoteFailure | undefined;
  const waiting = new Set<(failure: RemoteFailure) => void>();

  function giveUp(why: RemoteFailure): void {
    if (failure !== undefined) return;
    failure = why;
    deadline.failure = why;
    end();
    controller.abort(why);
    for (const reject of waiting) reject(why);
    waiting.clear();
  }
  const timer = setTimeout(
    () => giveUp(new RemoteFailure("timeout", `There was no answer within ${ms} ms`)),
    Math.min(ms, LONGEST_MS),
  );
  const onGone = (): void => giveUp(new RemoteFailure("gone", "The caller no longer waits for the response"));
  function end(): void {
    clearTimeout(timer);
    caller?.removeEventListener("abort", onGone);
  }
  const deadline = {
    signal: controller.signal,
    failure,
    // Not a `Promise.race`: one promise that is never settled would collect what waits for it.
    within<T>(work: PromiseLike<T>) {
      return new Promise<T>((resolve, reject) => {
        const settle = (): void => void waiting.delete(reject);
        Promise.resolve(work).then(
          (value) => {
            settle();
            resolve(value);
          },
          (error: unknown) => {
            settle();
            reject(error);
          },
        );
        if (failure === undefined) waiting.add(reject);
        else reject(failure);
      });
    },
    end,
    abandon: onGone,
  };
  if (caller?.aborted) onGone();
  else caller?.addEventListener("abort", onGone, { once: true });
  return deadline;
}
