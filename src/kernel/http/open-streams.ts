import type { OpenStream } from "../routes/open-stream.ts";

/** The streams of an app that are under way. */
export class OpenStreams {
  readonly #ends = new Set<() => void>();
  #isClosed = false;

  /** @param outer aborted when the client disconnects */
  async *chunks({ begin }: OpenStream, outer: AbortSignal | undefined): AsyncGenerator<Uint8Array | string> {
    const controller = new AbortController();
    let stop: (() => void) | undefined;
    const end = (): void => {
      controller.abort();
      stop?.();
    };
    if (this.#isClosed || outer?.aborted) return;
    this.#ends.add(end);
    outer?.addEventListener("abort", end, { once: true });
    const source = begin(controller.signal)[Symbol.asyncIterator]();
    // Not `Promise.race` against a promise of the end, which would remember every chunk.
    const next = (): Promise<IteratorResult<Uint8Array | string> | undefined> =>
      new Promise((resolve, reject) => {
        stop = () => resolve(undefined);
        source.next().then(resolve, reject);
      });
    try {
      while (!controller.signal.aborted) {
        const chunk = await next();
        if (chunk === undefined || chunk.done) return;
        yield chunk.value;
      }
    } finally {
      this.#ends.delete(end);
      outer?.removeEventListener("abort", end);
      controller.abort();
      // A source that does not listen to its signal may never get there.
      void source.return?.().then(undefined, () => {});
    }
  }

  /** Ends all of them, and those that begin later. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends) end();
  }
}
