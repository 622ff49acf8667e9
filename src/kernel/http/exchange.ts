import type { Place } from "../async/in-flight.ts";
import { UnavailableError } from "../errors/errors.ts";
import type { ErrorContent } from "../records/present-error.ts";
import type { Route } from "../routes/route.ts";
import type { HttpExchange, KernelRequest, KernelResponse } from "./messages.ts";

/** One request on its way, with its deadline: when that passes it gives up, and aborts the signal handlers were given. */
export class Exchange implements HttpExchange {
  readonly requestId: string = crypto.randomUUID();
  readonly request: KernelRequest;
  /** Time of the deadline; the route may have another. */
  expires: number;
  /** Undefined until one matched. */
  route: Route | undefined;
  params: Readonly<Record<string, string>> | undefined;
  /** The error that ended the work and what it says to this caller; undefined where nobody knew yet who calls. */
  failure: { readonly error: unknown; readonly content: ErrorContent | undefined } | undefined;
  isExpired = false;
  /** Where the handler keeps it while it is under way. */
  place: Place<Exchange> | undefined;
  #giveUp: ((error: Error) => void) | undefined;
  #controller: AbortController | undefined;
  #signal: AbortSignal | undefined;
  #headers: KernelResponse["headers"] | undefined;

  constructor(request: KernelRequest, expires: number) {
    this.request = request;
    this.expires = expires;
  }

  /**
   * What the work comes to, or the error of the deadline when that passes first. Not a `Promise.race` against a promise
   * of the deadline: that one would keep the answer in memory long after it was sent.
   */
  within<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#giveUp = reject;
      work.then(
        (value) => {
          this.#giveUp = undefined;
          resolve(value);
        },
        (error: unknown) => {
          this.#giveUp = undefined;
          reject(error);
        },
      );
    });
  }

  /** Made on first use, as the adapter's own: most requests never look at it. */
  get signal(): AbortSignal {
    if (this.#signal !== undefined) return this.#signal;
    this.#controller = new AbortController();
    if (this.isExpired) this.#controller.abort();
    const own = this.#controller.signal;
    const outer = this.request.signal;
    this.#signal = outer === undefined ? own : AbortSignal.any([outer, own]);
    return this.#signal;
  }

  /** Made on first use, too. */
  get headers(): KernelResponse["headers"] {
    this.#headers ??= {};
    return this.#headers;
  }

  /** Gives an answer the headers that it was given on the way; its own stay. */
  addHeaders({ headers }: KernelResponse): void {
    if (this.#headers === undefined) return;
    for (const [name, value] of Object.entries(this.#headers)) headers[name] ??= value;
  }

  expire(): void {
    this.isExpired = true;
    this.#controller?.abort();
    this.#giveUp?.(new UnavailableError("The request took too long"));
  }
}
