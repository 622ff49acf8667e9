import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { finished, pipeline, Readable } from "node:stream";
import { cancelBody, type KernelResponse } from "../../kernel/index.ts";

/** Milliseconds a client gets to finish sending an unwanted body before its connection is closed. */
const LINGER_MS = 2_000;

/**
 * Writes an answer out: head and body in one go where the body is in memory, streams with backpressure.
 * A stream that fails cuts the connection, so that no client takes half an answer for a whole one.
 * @param failed hears why a stream failed
 */
export function writeReply(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  reply: KernelResponse,
  failed: (error: unknown) => void = () => {},
): void {
  const { status, body } = reply;
  const headers = reply.headers as OutgoingHttpHeaders;
  // A body that is still on its way would be read as the next request.
  const early = !incoming.complete;
  if (early) outgoing.shouldKeepAlive = false;

  if (typeof body === "string") headers["content-length"] = Buffer.byteLength(body);
  else if (body instanceof Uint8Array) headers["content-length"] = body.byteLength;
  else if (body !== null) {
    outgoing.writeHead(status, headers);
    // A client that has gone before anything was read leaves the stream unbegun: what waits for its end goes on then, too.
    pipeline(Readable.from(watched(body, outgoing, failed)), outgoing, () => void cancelBody(reply));
    if (early) incoming.resume();
    return;
  } else if (status !== 204 && status !== 304 && incoming.method !== "HEAD") headers["content-length"] ??= 0;

  outgoing.writeHead(status, headers);
  if (early) endLate(incoming, outgoing, body);
  else outgoing.end(body);
}

/** Tells a stream's own failures from those that only say that the client has gone. */
async function* watched<T>(
  body: AsyncIterable<T>,
  outgoing: ServerResponse,
  failed: (error: unknown) => void,
): AsyncGenerator<T> {
  try {
    yield* body;
  } catch (error) {
    if (!outgoing.destroyed) failed(error);
    throw error;
  }
}

/**
 * Sends the whole answer, but closes the connection only when the client has sent all it wants to, or takes too long:
 * closing on unread bytes resets a connection, and the client, still sending, would never see the status.
 */
function endLate(incoming: IncomingMessage, outgoing: ServerResponse, body: string | Uint8Array | null): void {
  if (body === null) outgoing.flushHeaders();
  else outgoing.write(body);
  const end = () => {
    clearTimeout(timer);
    outgoing.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  finished(incoming, end);
  incoming.resume();
}
