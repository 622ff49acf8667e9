/**
 * Work that takes turns where it has a key in common: two batches that change the same records in another order would wait for
 * each other in the database.
 */
export class KeyedTurns {
  /** What each key waits for; keys without waiting work are not kept. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #mostMs: number;

  /**
   * @param mostMs milliseconds that work waits for its turn; then it begins all the same, and the database decides. A key is
   * only a name in a request: a caller who names many would else keep others waiting for as long as they like.
   */
  constructor(mostMs: number) {
    this.#mostMs = mostMs;
  }

  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const distinct = [...new Set(keys)];
    const before = distinct.flatMap((key) => this.#last.get(key) ?? []);
    // All at once, so that no two wait for each other.
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

/** Resolves with the work, or when the time is over. */
function within(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
