import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { finished, pipeline, Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Answering, cancelBody, describeError, type KernelResponse, refusal } from "../../kernel/index.ts";
import { type HostView, NodeRequest } from "./node-request.ts";

/** The part of an app that adapters need. */
export interface HandlingApp extends Answering {
  /**
   * Whether a path belongs to the app, even if the response is an error; `base` as in KernelRequest. @default every
   * path does
   */
  owns?(url: string, base?: string): boolean;
}

/** Handles a request of node:http, or of a host that is based on it. Never rejects. */
export async function answer(
  app: HandlingApp,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  view: HostView,
): Promise<void> {
  const failed = (error: unknown) => app.log?.error("A response could not be sent", describeError(error));
  let reply: KernelResponse | undefined;
  try {
    reply = await app.handle(new NodeRequest(incoming, outgoing, view));
    // node may run this code between a body's bytes and its end, even when both arrived in one packet.
    if (!incoming.complete) await nextTurn();
    // The host's own timeout may have sent a response meanwhile.
    if (outgoing.headersSent) void cancelBody(reply);
    else writeReply(incoming, outgoing, reply, failed);
  } catch (error) {
    // The response cannot be written, for instance because of a line break in a header.
    failed(error);
    if (reply !== undefined) void cancelBody(reply);
    if (outgoing.headersSent) outgoing.destroy();
    else writeReply(incoming, withoutHead(outgoing, reply), refusal(error));
  }
}

/**
 * Clears the parts of a head that node kept after failing to write it: the reason phrase, and the response's headers.
 */
function withoutHead(outgoing: ServerResponse, reply: KernelResponse | undefined): ServerResponse {
  for (const name of Object.keys(reply?.headers ?? {})) outgoing.removeHeader(name);
  outgoing.statusMessage = "";
  return outgoing;
}

/** Milliseconds that a client has to finish sending an unwanted body before its connection is closed. */
const LINGER_MS = 2_000;

/**
 * Writes a response: head and body together if the body is in memory, streams with backpressure. A failing stream
 * closes the connection, so that a client does not mistake a partial response for a complete one.
 * @param failed receives the error of a failed stream
 */
function writeReply(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  reply: KernelResponse,
  failed: (error: unknown) => void = () => {},
): void {
  const { status, body } = reply;
  const headers = reply.headers as OutgoingHttpHeaders;
  // A body that has not been received completely would be read as the next request.
  const early = !incoming.complete;
  if (early) outgoing.shouldKeepAlive = false;

  if (typeof body === "string") headers["content-length"] = Buffer.byteLength(body);
  else if (body instanceof Uint8Array) headers["content-length"] = body.byteLength;
  else if (body !== null) {
    outgoing.writeHead(status, headers);
    // Also ends the stream if the client disconnects before the first read.
    pipeline(Readable.from(watched(body, outgoing, failed)), outgoing, () => void cancelBody(reply));
    if (early) incoming.resume();
    return;
  } else if (status !== 204 && status !== 304 && incoming.method !== "HEAD") headers["content-length"] ??= 0;

  outgoing.writeHead(status, headers);
  if (early) endLate(incoming, outgoing, body);
  else outgoing.end(body);
}

/** Distinguishes a stream's own failures from a client that has disconnected. */
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
 * Sends the whole response, but closes the connection only when the client has finished sending, or takes too long:
 * closing a connection with unread bytes resets it, and a client that is still sending would never see the status.
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
