import type { IncomingMessage } from "node:http";
import { BadRequestError } from "../../kernel/index.ts";

/** Maximum number of chunks that are queued for a slow reader. */
const QUEUED = 8;

/**
 * Yields the body's bytes as they arrive, read only on demand. If a reader stops early, the connection stays open and
 * the rest of the body is discarded. Node's own iterator would destroy the connection, and with it the 413 response. It
 * is also slower for a single small chunk, the most common body.
 * @throws BadRequestError when the client disconnects before the body's end
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
