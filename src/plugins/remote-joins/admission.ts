import { bulkhead } from "cockatiel";

/** Lets work wait for its turn. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

/** A gate that lets so many through at once; the others wait. */
export function createGate(concurrency: number): Gate {
  const turns = bulkhead(concurrency, Number.POSITIVE_INFINITY);
  return (work) => turns.execute(work);
}
