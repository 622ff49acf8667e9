/** Runs pieces of work one after the other, in the order they were asked for; a failure does not hold up the next. */
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
