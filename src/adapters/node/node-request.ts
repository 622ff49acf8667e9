import type { IncomingMessage, ServerResponse } from "node:http";
import type { KernelBody, KernelRequest } from "../../kernel/index.ts";
import { bodyChunks } from "./body-chunks.ts";

/** The host's view of a request, where it differs from node:http's. */
export interface HostView {
  /** Path and query; without `base`. */
  readonly url: string;
  /** The path that the app is mounted under. @default not mounted */
  readonly base?: string | undefined;
  /** Returns the framework's own request for the host's `getUser` and handlers. @default node's request */
  readonly raw?: (() => unknown) | undefined;
  /** Returns the body, if the host may have read it already. @default the bytes of node's request */
  readonly body?: (() => KernelBody | undefined) | undefined;
  readonly getUser?: ((request: never) => unknown) | undefined;
}

/** Whether a request announces a body (RFC 9112 section 6.3). */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** The body of a request that has not been read yet; undefined without a body. */
export function unreadBody(incoming: IncomingMessage): KernelBody | undefined {
  return announcesBody(incoming) ? { kind: "stream", stream: bodyChunks(incoming) } : undefined;
}

/**
 * Header values, with repeated lines joined as in RFC 9110 section 5.3 and on web-standard hosts. node:http drops a
 * second `Authorization` or `Content-Type` instead; joined, the value is invalid for any parser.
 */
function headersOf(incoming: IncomingMessage): KernelRequest["headers"] {
  const { headers, rawHeaders } = incoming;
  let names = 0;
  for (const _name in headers) names++;
  if (names * 2 === rawHeaders.length) return headers;
  const distinct = Object.entries(incoming.headersDistinct);
  return Object.fromEntries(distinct.map(([name, lines = []]) => [name, lines.join(name === "cookie" ? "; " : ", ")]));
}

/**
 * Converts a request of node:http for the kernel. A class, not a literal, because members that most requests never use
 * are created on demand: an AbortController alone costs more than the rest.
 */
export class NodeRequest implements KernelRequest {
  readonly method: string;
  readonly url: string;
  readonly base: string | undefined;
  readonly headers: KernelRequest["headers"];
  readonly getUser: ((request: never) => unknown) | undefined;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;
  readonly #view: HostView;
  #abort: AbortController | undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, view: HostView) {
    this.method = incoming.method ?? "GET";
    this.url = view.url;
    this.base = view.base;
    this.headers = headersOf(incoming);
    this.getUser = view.getUser;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#view = view;
  }

  get body(): KernelBody | undefined {
    return this.#view.body === undefined ? unreadBody(this.#incoming) : this.#view.body();
  }

  get address(): string | undefined {
    // Requests from test tools may have no socket.
    return (this.#incoming.socket as IncomingMessage["socket"] | undefined)?.remoteAddress;
  }

  get raw(): unknown {
    return this.#view.raw === undefined ? this.#incoming : this.#view.raw();
  }

  /** Aborted when the client disconnects before the response is complete. */
  get signal(): AbortSignal {
    if (this.#abort) return this.#abort.signal;
    const abort = new AbortController();
    const outgoing = this.#outgoing;
    const closed = () => outgoing.writableFinished || abort.abort();
    if (outgoing.destroyed) closed();
    else outgoing.once("close", closed);
    this.#abort = abort;
    return abort.signal;
  }
}
