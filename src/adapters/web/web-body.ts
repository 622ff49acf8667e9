import { BadRequestError } from "../../kernel/index.ts";

/** Milliseconds that a client has to finish sending an unwanted body before it gets its response. */
const LINGER_MS = 2_000;

/**
 * Yields the whole body of a request, which hosts on node:http read much faster than its stream. Yields nothing if a
 * middleware that reads the body later has locked it.
 * @throws BadRequestError when the client disconnects before the body's end
 */
export async function* atOnce(request: Request): AsyncGenerator<Uint8Array> {
  const bytes = await request.arrayBuffer().catch((cause: unknown) => {
    if (!request.bodyUsed && request.body?.locked) return undefined;
    throw endedEarly(cause);
  });
  if (bytes !== undefined) yield new Uint8Array(bytes);
}

function endedEarly(cause: unknown): BadRequestError {
  return new BadRequestError("The request ended before its body was complete", { cause });
}

/** The body of a web-standard request, read only on demand. */
export class WebBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #isDone = false;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /**
   * Yields the bytes as they arrive.
   * @throws BadRequestError when the client disconnects before the body's end
   */
  async *chunks(): AsyncGenerator<Uint8Array> {
    while (!this.#isDone) {
      const { done, value } = await this.#reader.read().catch((cause: unknown) => {
        this.#isDone = true;
        throw endedEarly(cause);
      });
      this.#isDone = done;
      if (!done) yield value;
    }
  }

  /**
   * Discards the rest of the body, for a limited time: hosts close the connection after an early response, and a client
   * that is still sending would never see the status.
   */
  async discard(): Promise<void> {
    if (this.#isDone) return;
    const timer = setTimeout(() => void this.#reader.cancel().catch(() => {}), LINGER_MS);
    try {
      for await (const _chunk of this.chunks());
    } catch {
      // The client has disconnected.
    } finally {
      clearTimeout(timer);
    }
  }
}
