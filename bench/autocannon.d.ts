/**
 * What the load generator uses of autocannon. Declared here so that the compiler needs no package of this folder: every
 * file is checked by `npm run types` after `npm ci` in the repository's folder alone.
 */
declare module "autocannon" {
  interface Request {
    readonly method: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }

  interface Client {
    setRequests(requests: readonly Request[]): void;
  }

  interface Options {
    readonly url: string;
    readonly connections: number;
    readonly duration: number;
    readonly sampleInt: number;
    readonly setupClient: (client: Client) => void;
    readonly verifyBody?: (body: string) => boolean;
  }

  export interface Result {
    readonly non2xx: number;
    readonly errors: number;
    readonly timeouts: number;
    readonly mismatches: number;
    readonly requests: { readonly sent: number };
  }

  interface Instance {
    on(event: "response", listener: (client: Client, status: number, bytes: number, durationMs: number) => void): void;
  }

  // biome-ignore lint/style/noDefaultExport: the package has one
  export default function autocannon(options: Options, done: (error: Error | null, result: Result) => void): Instance;
}
