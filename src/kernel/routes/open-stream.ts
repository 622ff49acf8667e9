/** The source of a response that does not end by itself. */
export class OpenStream {
  readonly begin: (signal: AbortSignal) => AsyncIterable<Uint8Array | string>;

  constructor(begin: (signal: AbortSignal) => AsyncIterable<Uint8Array | string>) {
    this.begin = begin;
  }
}
