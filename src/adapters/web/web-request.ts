import { ConfigurationError } from "../../entity/index.ts";
import type { KernelBody, KernelRequest } from "../../kernel/index.ts";
import { pathBelow } from "../node/node-host.ts";
import { atOnce, WebBody } from "./web-body.ts";

/** Maximum length in bytes of a body that is read at once. */
const SHORT = 65_536;

/** The host's view of a request, where it differs from the request. */
export interface WebView {
  /** The name of the adapter, for messages. */
  readonly adapter: string;
  /** Path and query; without `base`. */
  readonly url: string;
  /** The path that the app is mounted under. @default not mounted */
  readonly base?: string | undefined;
  /** The framework's own request, for the host's `getUser` and handlers. */
  readonly raw: unknown;
  /** Returns the remote address of the connection. @default the host does not report it */
  readonly address?: (() => string | undefined) | undefined;
  /** Returns the bytes of a body that was read before, if the host kept them; otherwise rejects. */
  readonly kept?: (() => Promise<ArrayBuffer>) | undefined;
  readonly getUser?: ((request: never) => unknown) | undefined;
}

/** The unchanged path and query of an absolute URL. */
export function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  return start === -1 ? "/" : url.slice(start);
}

/**
 * The part of a raw path and query below `base`, which is empty for an app that is not mounted. A path that is below
 * `base` only after its dots are resolved is returned whole, and refused later because of the dots.
 */
export function placeOf(base: string, target: string): Pick<WebView, "url" | "base"> {
  return base === "" ? { url: target } : { base, url: pathBelow(base, target) ?? target };
}

/**
 * Converts a web-standard request for the kernel. A class, not a literal, because hosts on node:http create bodies and
 * signals on demand, and most requests never use them.
 */
export class WebRequest implements KernelRequest {
  readonly method: string;
  readonly url: string;
  readonly base: string | undefined;
  readonly headers: KernelRequest["headers"];
  readonly raw: unknown;
  readonly getUser: ((request: never) => unknown) | undefined;
  readonly #request: Request;
  readonly #view: WebView;
  #body: WebBody | undefined;

  constructor(request: Request, view: WebView) {
    this.method = request.method;
    this.url = view.url;
    this.base = view.base;
    this.headers = Object.fromEntries(request.headers);
    this.raw = view.raw;
    this.getUser = view.getUser;
    this.#request = request;
    this.#view = view;
  }

  get address(): string | undefined {
    return this.#view.address?.();
  }

  get body(): KernelBody | undefined {
    const { "content-length": length } = this.headers;
    if (length === "0") return undefined;
    if (this.#body === undefined) {
      if (this.#request.bodyUsed) return { kind: "stream", stream: readBefore(this.#view) };
      if (Number(length) <= SHORT) return { kind: "stream", stream: atOnce(this.#request) };
    }
    const body = this.#unread();
    return body === undefined ? undefined : { kind: "stream", stream: body.chunks() };
  }

  /** Aborted when the client disconnects before the response is complete. */
  get signal(): AbortSignal {
    return this.#request.signal;
  }

  /** Discards the rest of a body that has not been read completely. */
  async discardBody(): Promise<void> {
    // Accessing the body creates one, which most requests do not need.
    const { "content-length": length = "0", "transfer-encoding": coding } = this.headers;
    if (length === "0" && coding === undefined) return;
    if (this.#body !== undefined || !this.#request.bodyUsed) await this.#unread()?.discard();
  }

  #unread(): WebBody | undefined {
    if (this.#body !== undefined) return this.#body;
    const { body } = this.#request;
    // A locked, unread body belongs to a middleware that reads it later.
    if (body !== null && !body.locked) this.#body = new WebBody(body);
    return this.#body;
  }
}

/** Yields the bytes of a body that the host kept; fails like a consumed body otherwise. */
async function* readBefore({ adapter, kept }: WebView): AsyncGenerator<Uint8Array> {
  const bytes = await kept?.().catch(() => undefined);
  if (bytes === undefined)
    throw new ConfigurationError(
      `The request's body was read before ${adapter} and not kept; let the adapter read it first`,
    );
  yield new Uint8Array(bytes);
}
