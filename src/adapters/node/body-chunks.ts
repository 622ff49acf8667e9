import type { IncomingMessage } from "node:http";
import { BadRequestError } from "../../kernel/index.ts";

/** Chunks that may wait for a slow reader. */
const QUEUED = 8;

/**
 * The body's bytes as they arrive, read only on demand. A reader that stops early leaves the connection open, and the
 * rest of the body is dropped. Node's own iterator would destroy the connection, and with it the 413 response. It is
 * also slower for a single small chunk, as in most bodies.
 * @throws BadRequestError when the client goes away before the body's end
 */
export async function* bodyChunks(incoming: IncomingMessage): AsyncGenerator<Uint8Array> {
  const queue: Uint8Array[] = [];
  let wake = () => {};
  const arrive = (chunk: Uint8Array) => {
    if (queue.push(chunk) >= QUEUED) incoming.pause();
    wake();
  };
  const end = () => wake();
  incoming.on("data", arrive).on("end", end).on("close", end);
  try {
    for (;;) {
      for (let chunk = queue.shift(); chunk !== undefined; chunk = queue.shift()) yield chunk;
      if (incoming.readableEnded) return;
      if (incoming.destroyed) throw new BadRequestError("The request ended before its body was complete");
      const arrived = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (incoming.isPaused()) incoming.resume();
      await arrived;
    }
  } finally {
    incoming.off("data", arrive).off("end", end).off("close", end).resume();
  }
}
