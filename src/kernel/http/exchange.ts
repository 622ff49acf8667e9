import { UnavailableError } from "../errors/errors.ts";
import type { HttpExchange, KernelRequest, KernelResponse } from "../request/messages.ts";
import type { ErrorContent } from "../request/present.ts";
import type { KernelRoute } from "../routes/kernel-route.ts";

/** The size of an app's large responses in flight. */
export interface LargeAnswers {
  /** Maximum number of bytes. */
  readonly most: number;
  bytes: number;
}

/**
 * A request in flight with its deadline. When the deadline passes, the request is answered with 503 and the handler's
 * signal is aborted.
 */
export class Exchange implements HttpExchange {
  readonly requestId: string = crypto.randomUUID();
  readonly request: KernelRequest;
  /** The time of the deadline, in milliseconds since the epoch; a route may change it. */
  expires: number;
  /** Undefined until a route matches. */
  route: KernelRoute | undefined;
  params: Readonly<Record<string, string>> | undefined;
  /**
   * The error that ended the work in the caller's scope, and its content for this caller; undefined without an error.
   */
  failure: { readonly error: unknown; readonly content: ErrorContent | undefined } | undefined;
  isExpired = false;
  /** Its place in the list of requests in flight. */
  place: Place<Exchange> | undefined;
  #giveUp: ((error: Error) => void) | undefined;
  #controller: AbortController | undefined;
  #signal: AbortSignal | undefined;
  #headers: KernelResponse["headers"] | undefined;

  /** Bytes counted for its large response. */
  #held = 0;
  #isAnswered = false;
  readonly #large: LargeAnswers;

  constructor(request: KernelRequest, expires: number, large: LargeAnswers) {
    this.request = request;
    this.expires = expires;
    this.#large = large;
  }

  /** Counts bytes of a large response. A single large response is always allowed, regardless of its size. */
  hold(bytes: number): void {
    if (this.#isAnswered) return;
    const others = this.#large.bytes - this.#held;
    if (others > 0 && this.#large.bytes + bytes > this.#large.most)
      throw new UnavailableError("Too many large answers are under way; ask for less at once, or try again");
    this.#held += bytes;
    this.#large.bytes += bytes;
  }

  /** Counts a large response until it has been sent or abandoned. */
  holdUntilSent(response: KernelResponse): void {
    this.#isAnswered = true;
    if (this.#held === 0) return;
    const release = (): undefined => {
      this.#large.bytes -= this.#held;
      this.#held = 0;
    };
    const { body } = response;
    if (body === null || (!isStream(body) && body.length < PIECE)) {
      release();
      return;
    }
    if (isStream(body)) response.body = endWith(body, release);
    else {
      const bytes = typeof body === "string" ? Buffer.from(body) : body;
      this.#large.bytes += bytes.length - this.#held;
      this.#held = bytes.length;
      response.headers["content-length"] = String(bytes.length);
      response.body = endWith(piecesOf(bytes), release);
    }
    this.request.signal?.addEventListener("abort", release, { once: true });
  }

  /**
   * Returns the result of the work, or rejects when the deadline passes first. Not a `Promise.race` with a promise of
   * the deadline, which would keep the response in memory long after it was sent.
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

  /** Created on first use, like the adapter's signal: most requests never use it. */
  get signal(): AbortSignal {
    if (this.#signal !== undefined) return this.#signal;
    this.#controller = new AbortController();
    if (this.isExpired) this.#controller.abort();
    const own = this.#controller.signal;
    const outer = this.request.signal;
    this.#signal = outer === undefined ? own : AbortSignal.any([outer, own]);
    return this.#signal;
  }

  /** Created on first use, too. */
  get headers(): KernelResponse["headers"] {
    this.#headers ??= {};
    return this.#headers;
  }

  /** Adds the collected headers to a response, unless it already has them. */
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

/** The size of the pieces in which large responses are sent, in bytes. */
const PIECE = 65_536;

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += PIECE) yield bytes.subarray(start, start + PIECE);
}

/** A place in the list; without neighbors once it has been left. */
export interface Place<T> {
  readonly item: T;
  before: Place<T> | undefined;
  after: Place<T> | undefined;
}

/**
 * Items in flight, oldest first. Not a `Set`: V8 keeps replacing the hash table of a set, and old tables keep finished
 * items in memory until the next full garbage collection.
 */
export class InFlight<T> implements Iterable<T> {
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @returns the place to pass to `leave` */
  enter(item: T): Place<T> {
    const place: Place<T> = { item, before: this.#last, after: undefined };
    if (this.#last === undefined) this.#first = place;
    else this.#last.after = place;
    this.#last = place;
    this.#size++;
    return place;
  }

  /** @param place a place that has not been left yet */
  leave(place: Place<T>): void {
    const { before, after } = place;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    place.before = undefined;
    place.after = undefined;
    this.#size--;
  }

  /** Oldest first. The loop body may `leave` only the place of the current item. */
  *[Symbol.iterator](): Generator<T> {
    for (let place = this.#first; place !== undefined; ) {
      const { item, after } = place;
      yield item;
      place = after;
    }
  }
}

/** The headers of every response. */
export function baseHeaders(requestId: string): Record<string, string | readonly string[]> {
  return {
    "x-request-id": requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
    vary: "Authorization, Cookie, Origin",
  };
}

export function isStream(value: unknown): value is AsyncIterable<Uint8Array | string> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** Ends a body that will not be sent completely. The stream is not read further, and the callback of `endWith` runs. */
export async function cancelBody({ body }: Pick<KernelResponse, "body">): Promise<void> {
  try {
    if (isStream(body)) await body[Symbol.asyncIterator]().return?.();
  } catch {
    // The response is abandoned; errors are ignored.
  }
}

/**
 * Adds a callback to a stream that runs when it ends: completely read, aborted, failed, or cancelled before it began.
 */
export function endWith<T>(body: AsyncIterable<T>, end: () => Promise<void> | undefined): AsyncIterable<T> {
  let isOver = false;
  return {
    [Symbol.asyncIterator]() {
      const iterator = body[Symbol.asyncIterator]();
      const take = async (step: () => Promise<IteratorResult<T>> | undefined): Promise<IteratorResult<T>> => {
        let result: IteratorResult<T> = { done: true, value: undefined };
        try {
          result = (await step()) ?? result;
        } finally {
          if (result.done && !isOver) {
            isOver = true;
            await end();
          }
        }
        return result;
      };
      return { next: () => take(() => iterator.next()), return: () => take(() => iterator.return?.()) };
    },
  };
}
