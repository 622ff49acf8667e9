/**
 * Maps all items with `work`, `limit` at a time, and keeps their order. After a failure no further item is started; the
 * error is thrown when the running ones have ended.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const entries = items.entries();
  let failed = false;
  const lanes = Array.from({ length: limit }, async () => {
    for (const [index, item] of entries) {
      if (failed) return;
      results[index] = await work(item).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  });
  for (const lane of await Promise.allSettled(lanes)) if (lane.status === "rejected") throw lane.reason;
  return results;
}
