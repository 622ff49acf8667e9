import { UnavailableError } from "../errors/errors.ts";
import type { Route } from "../routes/route.ts";
import type { KernelRequest } from "./messages.ts";

/** One request on its way, with its deadline: when that passes it rejects, and aborts the signal handlers were given. */
export class Exchange {
  readonly requestId: string = crypto.randomUUID();
  readonly request: KernelRequest;
  /** Time of the deadline. */
  readonly expires: number;
  readonly expired: Promise<never>;
  /** Undefined until one matched. */
  route: Route | undefined;
  params: Readonly<Record<string, string>> | undefined;
  isExpired = false;
  #reject!: (error: Error) => void;
  #controller: AbortController | undefined;
  #signal: AbortSignal | undefined;

  constructor(request: KernelRequest, expires: number) {
    this.request = request;
    this.expires = expires;
    this.expired = new Promise((_resolve, reject) => {
      this.#reject = reject;
    });
    this.expired.catch(() => {}); // the race may have been won already
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

  expire(): void {
    this.isExpired = true;
    this.#controller?.abort();
    this.#reject(new UnavailableError("The request took too long"));
  }
}
