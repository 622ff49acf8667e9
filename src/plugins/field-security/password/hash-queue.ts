import { UnavailableError } from "../../../kernel/index.ts";

/** Runs a piece of work when it is its turn. Fails as the work does, which then gives its place to the next. */
export type HashQueue = <T>(work: () => Promise<T>) => Promise<T>;

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
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < concurrency) running++;
    else if (waiting.length < queue) await new Promise<void>((begin) => waiting.push(begin));
    else throw new UnavailableError("Too many passwords are being checked at the moment; try again soon");
    try {
      return await work();
    } finally {
      // The place is handed on and never free in between, so that nobody who comes now gets ahead of who waits.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
