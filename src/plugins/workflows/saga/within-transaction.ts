import { ATOMIC_MS } from "./try-once.ts";

/**
 * Runs the steps of one transaction, which are over before it is: so it is a step that fails, not the transaction, of which
 * nobody would know whether it was stored.
 * @param outer aborted when the steps have to be done anyway
 */
export async function withinTransaction<T>(
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const end = (): void => over.abort();
  const timer = setTimeout(end, ATOMIC_MS);
  if (outer?.aborted === true) end();
  outer?.addEventListener("abort", end, { once: true });
  try {
    return await work(over.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", end);
  }
}
