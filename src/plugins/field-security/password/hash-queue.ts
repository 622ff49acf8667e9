import { UnavailableError } from "../../../kernel/index.ts";

/**
 * Runs a piece of work when it is its turn. Fails as the work does, which then gives its place to the next.
 * @param signal when it is aborted, work that still waits is taken out of the queue: UnavailableError (503)
 */
export type HashQueue = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** How much a queue takes. */
export interface HashQueueSize {
  /** Pieces of work that run at once. */
  readonly concurrency: number;
  /** Pieces of work that wait. */
  readonly queue: number;
}

/**
 * A new queue, first come, first served. What finds it full is refused at once with UnavailableError (503, `Retry-After`):
 * a caller who would wait for many seconds is better told to come back.
 */
export function createHashQueue({ concurrency, queue }: HashQueueSize): HashQueue {
  const waiting = new Set<() => void>(); // in the order they came
  let running = 0;

  function turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        waiting.delete(begin);
        reject(abandoned());
      };
      waiting.add(begin);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  return async (work, signal) => {
    if (signal?.aborted) throw abandoned();
    if (running < concurrency) running++;
    else if (waiting.size < queue) await turn(signal);
    else throw new UnavailableError("Too many passwords are being checked at the moment; try again soon");
    try {
      return await work();
    } finally {
      // The place is handed on and never free in between, so that nobody who comes now gets ahead of who waits.
      const [next] = waiting;
      if (next === undefined) running--;
      else {
        waiting.delete(next);
        next();
      }
    }
  };
}

/** Work for a request that was answered or broken off would only keep others waiting. */
function abandoned(): UnavailableError {
  return new UnavailableError("The request ended before it was the turn of its password");
}
