/** Works on all items, `limit` at a time. After a failure nothing new is begun, and it is thrown when all is quiet. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const entries = items.entries();
  let failed = false;
  const lanes = Array.from({ length: limit }, async () => {
    for (const [index, item] of entries) {
      if (failed) return;
      await work(item, index).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  });
  for (const lane of await Promise.allSettled(lanes)) if (lane.status === "rejected") throw lane.reason;
}
