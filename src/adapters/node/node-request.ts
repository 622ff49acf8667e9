import type { IncomingMessage, ServerResponse } from "node:http";
import type { KernelBody, KernelRequest } from "../../kernel/index.ts";
import { bodyChunks } from "./body-chunks.ts";

/** How the host sees a request, where that differs from what node:http has. */
export interface HostView {
  /** Path and query; without `base`. */
  readonly url: string;
  /** Path the app is mounted under. @default not mounted */
  readonly base?: string | undefined;
  /** What the host's `getUser` and handlers get as the framework's own request. @default node's request */
  readonly raw?: (() => unknown) | undefined;
  /** The body, where the host may have read it already. @default the bytes of node's request */
  readonly body?: (() => KernelBody | undefined) | undefined;
  readonly getUser?: ((request: never) => unknown) | undefined;
}

/** A request with a body announces it (RFC 9112 section 6.3). */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** The body of a request that has not been read yet; undefined without one. */
export function unreadBody(incoming: IncomingMessage): KernelBody | undefined {
  return announcesBody(incoming) ? { kind: "stream", stream: bodyChunks(incoming) } : undefined;
}

/**
 * Header values, with repeated lines joined as RFC 9110 section 5.3 and web-standard hosts do. node:http drops the
 * second `Authorization` or `Content-Type` instead. Joined, the value is invalid to any parser.
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
 * A request of node:http as the kernel takes it. A class and not a literal, because what most requests never ask for is
 * created on demand: an AbortController alone costs more than the rest.
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
    // Requests of test tools may have no socket.
    return (this.#incoming.socket as IncomingMessage["socket"] | undefined)?.remoteAddress;
  }

  get raw(): unknown {
    return this.#view.raw === undefined ? this.#incoming : this.#view.raw();
  }

  /** Aborts when the client disconnects before it has the whole response. */
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
