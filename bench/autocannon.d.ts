// What the benchmarks use of autocannon, so that they are checked where it is not installed.
declare module "autocannon" {
  import type { EventEmitter } from "node:events";

  export interface Request {
    readonly method?: string;
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | undefined;
  }
  export interface Options {
    readonly url: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
    /** Milliseconds. */
    readonly sampleInt: number;
    readonly setupClient: (client: { setRequests(requests: readonly Request[]): void }) => void;
  }
  export interface Result {
    readonly non2xx: number;
    readonly errors: number;
    readonly timeouts: number;
    readonly requests: { readonly sent: number };
  }
  export default function autocannon(options: Options, done: (error: unknown, result: Result) => void): EventEmitter;
}
