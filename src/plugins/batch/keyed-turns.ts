/**
 * Work that takes turns where it has a key in common: two batches that change the same records in another order would wait for
 * each other in the database.
 */
export class KeyedTurns {
  /** What each key waits for; keys without waiting work are not kept. */
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const distinct = [...new Set(keys)];
    const before = distinct.flatMap((key) => this.#last.get(key) ?? []);
    // All at once, so that no two wait for each other.
    const turn = Promise.all(before).then(work);
    const end = turn.then(
      () => {},
      () => {},
    );
    for (const key of distinct) this.#last.set(key, end);
    try {
      return await turn;
    } finally {
      for (const key of distinct) if (this.#last.get(key) === end) this.#last.delete(key);
    }
  }
}
