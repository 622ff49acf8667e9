/** A request as adapters pass it: raw, neither decoded nor normalized. */
export interface KernelRequest {
  readonly method: string;
  /** Raw path and query, as on the request line; without `base` when the app is mounted under a path. */
  readonly url: string;
  /** The path that the app is mounted under (no trailing slash). It replaces the API prefix. @default not mounted */
  readonly base?: string | undefined;
  /** Header values by lower-case name, as in node:http. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: KernelBody | undefined;
  /**
   * The remote address of the connection, which may be a proxy's. Headers do not affect it.
   * @default the host does not report it
   */
  readonly address?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The framework's own request; passed to the adapter's `getUser` and to handlers. */
  readonly raw?: unknown;
  /** The adapter's own `getUser`; takes precedence over the app's. */
  readonly getUser?: ((request: never) => unknown) | undefined;
}

/** A body: a stream, bytes or text in memory, or the value that a body parser made. */
export type KernelBody =
  | { readonly kind: "stream"; readonly stream: AsyncIterable<Uint8Array> }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "parsed"; readonly value: unknown };

/** A response that adapters send. Header names are lower-case; a list sends the header several times. */
export interface KernelResponse {
  status: number;
  headers: Record<string, string | readonly string[]>;
  body: string | Uint8Array | AsyncIterable<Uint8Array | string> | null;
}

/** Limits the memory that large responses use. */
export interface ByteHolder {
  /**
   * Counts bytes of a large response.
   * @throws UnavailableError when too many large responses are in flight
   */
  hold?(bytes: number): void;
}

/** The current request, for the code that handles it. */
export interface HttpExchange extends ByteHolder {
  readonly request: KernelRequest;
  /** The matched route; its action is "create" or an action's name, for instance. Undefined until a route matches. */
  readonly route?: { readonly action: string } | undefined;
  /** Headers that are added to the response, unless it is an error. Names are lower-case. */
  readonly headers: Record<string, string | readonly string[]>;
  /** Aborted when the caller has disconnected or the request has timed out. */
  readonly signal: AbortSignal;
  /** Whether the request has timed out. */
  readonly isExpired: boolean;
}

/** The argument of the app's `getUser`: the parts of a request that all hosts have. */
export interface RequestInfo {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  /** The framework's own request. */
  readonly raw: unknown;
}
