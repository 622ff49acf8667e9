import type { OpenStream } from "../routes/open-stream.ts";

/** The open streams of an app. */
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
    // Not `Promise.race` with a promise of the end, which would keep every chunk in memory.
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
      // Not awaited: a source that ignores its signal may never return.
      void source.return?.().then(undefined, () => {});
    }
  }

  /** Ends all open streams and any that begin later. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends) end();
  }
}
