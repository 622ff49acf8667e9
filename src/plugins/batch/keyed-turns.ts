/**
 * Runs work with a common key one after the other. Two batches that change the same records in different orders would
 * otherwise wait for each other in the database.
 */
export class KeyedTurns {
  /** The last work per key. Finished work is removed. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #mostMs: number;

  /**
   * @param mostMs milliseconds that work waits for its turn. Then it starts anyway, and the database decides. The limit
   * is needed because keys come from requests: a caller could name many keys and block others.
   */
  constructor(mostMs: number) {
    this.#mostMs = mostMs;
  }

  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const distinct = [...new Set(keys)];
    const before = distinct.flatMap((key) => this.#last.get(key) ?? []);
    // Enters all queues at once, so that two tasks cannot wait for each other.
    const turn = (before.length === 0 ? Promise.resolve() : within(this.#mostMs, Promise.all(before))).then(work);
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

/** Resolves when the work ends, or the time is up. */
function within(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
