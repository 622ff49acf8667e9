import { RemoteFailure } from "./failures.ts";

/** The longest delay of a timer; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** A time limit for all parts of some work. */
export interface Deadline {
  /** Aborted when the deadline has passed. */
  readonly signal: AbortSignal;
  /** The reason why it has passed; undefined before. */
  readonly failure: RemoteFailure | undefined;
  /**
   * The result of a promise. Later results and rejections are ignored.
   * @throws RemoteFailure when the deadline passes first; any error that the promise rejects with
   */
  within<T>(work: PromiseLike<T>): Promise<T>;
  /** Stops the clock, because the work is done. */
  end(): void;
  /** Ends the deadline early, when pending work is no longer needed. */
  abandon(): void;
}

/**
 * Starts a deadline.
 * @param ms milliseconds
 * @param caller aborted when the caller has left
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
    // Not a `Promise.race`: a promise that never settles would accumulate handlers.
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
