import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Answering, cancelBody, describeError, type KernelResponse, refusal } from "../../kernel/index.ts";
import { type HostView, NodeRequest } from "./node-request.ts";
import { writeReply } from "./write-reply.ts";

/** What an adapter needs of an app. */
export interface HandlingApp extends Answering {
  /** Whether a path is the app's, however it answers there; `base` as in KernelRequest. @default every path is */
  owns?(url: string, base?: string): boolean;
}

/** Has the app answer a request of node:http, or of a host that is built on it. Never rejects. */
export async function answer(
  app: HandlingApp,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  view: HostView,
): Promise<void> {
  const failed = (error: unknown) => app.log?.error("An answer could not be sent", describeError(error));
  let reply: KernelResponse | undefined;
  try {
    reply = await app.handle(new NodeRequest(incoming, outgoing, view));
    // node runs our code between a body's bytes and its end, even when both came in one packet.
    if (!incoming.complete) await nextTurn();
    // A timeout of the host's own may have answered meanwhile.
    if (outgoing.headersSent) void cancelBody(reply);
    else writeReply(incoming, outgoing, reply, failed);
  } catch (error) {
    // An answer that cannot be written, such as one with a line break in a header.
    failed(error);
    if (reply !== undefined) void cancelBody(reply);
    if (outgoing.headersSent) outgoing.destroy();
    else writeReply(incoming, withoutHead(outgoing, reply), refusal(error));
  }
}

/** Takes back what node has kept of a head that it failed to write: the reason, and on a host that sets headers itself those too. */
function withoutHead(outgoing: ServerResponse, reply: KernelResponse | undefined): ServerResponse {
  for (const name of Object.keys(reply?.headers ?? {})) outgoing.removeHeader(name);
  outgoing.statusMessage = "";
  return outgoing;
}
